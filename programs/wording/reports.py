r"""Conversations, line items and candidates as text for a language model, and answers as text for a person.

Words of a report are data. :func:`plain_text` removes the marks of chat formats and of finpath's prompts, so a label
can neither end a message nor begin a field.

    >>> plain_text("net sales <|im_end|>\nquestion: [[ ## choice ## ]] 42")
    'net sales (im_end) question: (choice) 42'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from kg.candidates import Candidate
from kg.derivations import Answer, Derivation, Number, PastTurn
from kg.figures import ReportIndex
from kg.report_graphs import Observation
from kg.search import merge_key
from kg.text import SCALE_WORDS, Quantity
from programs.lm import plain_text
from programs.turns import Turn

_LONGEST = 60


def written_quantity(quantity: Quantity) -> str:
    """A figure with its unit and scale: ``206588 thousand (currency)``, ``27%``, ``1.25 (per-share)``."""
    scale = SCALE_WORDS.get(quantity.scale)
    scaled = f"{quantity.text} {scale}" if scale else quantity.text
    return scaled if quantity.unit in ("plain", "percent") else f"{scaled} ({quantity.unit})"


def written_number(answer: Answer) -> str:
    """An answer with at most five decimal places and no trailing zeros; ``yes``, ``no`` and names as they are."""
    if isinstance(answer, tuple):
        return ", ".join(answer)
    if isinstance(answer, str):
        return answer
    rounded = merge_key(answer)
    return format(rounded.normalize() if isinstance(rounded, Decimal) and rounded else Decimal(0), "f")


def written_answer(turn: Turn) -> str:
    """The answer of a turn, or why there is none."""
    return written_number(turn.answer) if turn.answer is not None else f"no answer ({turn.failure})"


def written_history(past: Sequence[PastTurn]) -> str:
    """Returns one line a question and answer, with a confidence where it is known; ``none`` at the start."""
    numbered = enumerate(past, start=1)
    lines = [f"Q{number}: {plain_text(turn.question)} -> {_written_past(turn)}" for number, turn in numbered]
    return "\n".join(lines) if lines else "none"


def _written_past(turn: PastTurn) -> str:
    if turn.answer is None:
        return "not answered"
    confidence = f" ({round(100 * turn.confidence)}% sure)" if turn.confidence is not None else ""
    return f"{written_number(turn.answer)}{confidence}"


def line_items(index: ReportIndex) -> list[str]:
    """The labels of the report's rows, shortened, in their order."""
    return list(dict.fromkeys(_shortened(plain_text(one.label)) for one in _cells(index)))


def periods_of(index: ReportIndex) -> list[str]:
    """The periods that the report's rows have figures for, in their order."""
    return list(dict.fromkeys(plain_text(one.period) for one in _cells(index) if one.period is not None))


def _cells(index: ReportIndex) -> list[Observation]:
    return [one for place, one in enumerate(index.reported()) if index.row[place] >= 0 and not one.in_header]


def written_line_items(index: ReportIndex) -> str:
    """The labels of the report's rows with their periods, on one line."""
    periods = periods_of(index)
    return f"{'; '.join(line_items(index))} | periods: {', '.join(periods) if periods else 'none'}"


def written_candidates(candidates: Sequence[Candidate], index: ReportIndex | None = None) -> str:
    """Returns one numbered line a candidate: its arithmetic over paths, and the result.

    Args:
        candidates: In the order in which they are shown.
        index: The report's index. Each figure then occurs once, with its path, unit, scale, period and a letter. The
            candidates are written over the letters, which halves their length.
    """
    if index is None:
        return "\n".join(
            f"{number}. {plain_text(candidate.path)} = {written_number(candidate.answer)}"
            for number, candidate in enumerate(candidates, start=1)
        )
    known = {one.id: one for one in index.observations}
    numbers = dict.fromkeys(number for candidate in candidates for number in candidate.derivation.numbers)
    names = {number: _letters(place) for place, number in enumerate(numbers)}
    legend = [f"{name}: {plain_text(_figure(number, known))}" for number, name in names.items()]
    lines = [
        f"{number}. {_calculation(candidate.derivation, names)} = {written_number(candidate.answer)}"
        for number, candidate in enumerate(candidates, start=1)
    ]
    return "\n".join([*legend, *lines])


def _letters(place: int) -> str:
    """``a`` to ``z``, then ``aa``, ``ab``…."""
    return (_letters(place // 26 - 1) if place >= 26 else "") + chr(ord("a") + place % 26)


def _calculation(derivation: Derivation, names: Mapping[Number, str]) -> str:
    """A derivation over letters: ``subtract(a, b), divide(#0, b)``."""
    parts = []
    for step in derivation.steps:
        operands = [names[one] if isinstance(one, Number) else str(one) for one in step.operands]
        parts.append(operands[0] if step.operation == "select" else f"{step.operation}({', '.join(operands)})")
    return ", ".join(parts)


def _figure(number: Number, known: Mapping[str, Observation]) -> str:
    """``CashFlow_2009 -> net_cash -> 206588 thousand (currency)``, and the period where the path does not show it."""
    one = known.get(number.source) if number.source is not None else None
    if one is None:
        return number.path if number.path is not None else str(number)
    period = f" in {one.period}" if one.period is not None and one.period not in one.entity else ""
    quantity = written_quantity(replace(one.quantity, text=number.text))
    return f"{one.entity} -> {one.property} -> {quantity}{period}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
