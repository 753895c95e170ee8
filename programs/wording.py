r"""How conversations, line items and candidates are written for a language model, and answers for a person.

Words of a report are data: :func:`plain_text` takes out of them what a chat format or a prompt of ours would read as
its own marks, so that a label can neither end a message nor begin a field.

    >>> plain_text("net sales <|im_end|>\nquestion: [[ ## choice ## ]] 42")
    'net sales (im_end) question: (choice) 42'
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal

from kg.candidate import Candidate, merge_key
from kg.derivation import Answer
from kg.history import PastTurn
from kg.report_index import ReportIndex
from kg.values import Quantity
from programs.turn import Turn

_LONGEST = 60

_SPECIAL = re.compile(
    r"<\s*[|｜]\s*/?\s*([\w▁ .-]{1,40}?)\s*[|｜]?\s*>|<<?\s*/?\s*(SYS|[a-z_]{1,24})\s*>>?"
    r"|\[\s*/?\s*(INST|[A-Z_]{4,24})\s*\]"
)
"""Tokens by which chat formats divide messages: ``<|im_end|>``, ``<s>``, ``<start_of_turn>``, ``[INST]``."""

_FIELD = re.compile(r"\[\[\s*##\s*([\w ]{0,40}?)\s*##\s*\]\]")
"""The marks of DSPy's chat layout."""

_FENCE = re.compile(r"`{3,}|~{3,}|^#+\s|-{4,}|={4,}")


def without_special_tokens(text: str) -> str:
    """A text in which nothing reads as a token that divides the messages of a chat; all else is as it was."""
    previous = None
    while previous != text:  # what is taken out must not join what stood around it
        previous = text
        text = _SPECIAL.sub(lambda match: f"({next((part for part in match.groups() if part), '')})", text)
    return text


def plain_text(text: str) -> str:
    """Words of a report on one line, without marks that a chat format or a prompt would take for its own."""
    seen = "".join(" " if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") else one for one in text)
    seen = _FIELD.sub(r"(\1)", without_special_tokens(" ".join(seen.split())))
    return " ".join(_FENCE.sub(" ", seen).split())


def written_quantity(quantity: Quantity) -> str:
    """A figure with its unit and scale: ``206588 thousand (currency)``, ``27%``, ``1.25 (per-share)``."""
    scale = SCALES.get(quantity.scale)
    scaled = f"{quantity.text} {scale}" if scale else quantity.text
    return scaled if quantity.unit in ("plain", "percent") else f"{scaled} ({quantity.unit})"


SCALES = {10**3: "thousand", 10**6: "million", 10**9: "billion", 10**12: "trillion"}
"""Scales in words."""


def written_number(answer: Answer) -> str:
    """An answer with at most five decimal places and no trailing zeros; ``yes`` and ``no`` as they are."""
    if isinstance(answer, str):
        return answer
    rounded = merge_key(answer)
    return format(rounded.normalize() if isinstance(rounded, Decimal) and rounded else Decimal(0), "f")


def written_answer(turn: Turn) -> str:
    """The answer of a turn, or why there is none."""
    return written_number(turn.answer) if turn.answer is not None else f"no answer ({turn.failure})"


def written_history(past: Sequence[PastTurn]) -> str:
    """One line a question and answer; ``none`` at the start of a conversation."""
    lines = [
        f"Q{number}: {turn.question} -> {written_number(turn.answer) if turn.answer is not None else 'not answered'}"
        for number, turn in enumerate(past, start=1)
    ]
    return "\n".join(lines) if lines else "none"


def written_line_items(index: ReportIndex) -> str:
    """The labels of the report's rows with their periods, on one line."""
    labels: dict[str, None] = {}
    periods: dict[str, None] = {}
    for place, observation in enumerate(index.observations):
        if index.row[place] < 0 or observation.in_header:
            continue
        labels.setdefault(_shortened(observation.label))
        if observation.period is not None:
            periods.setdefault(observation.period)
    return f"{'; '.join(labels)} | periods: {', '.join(periods) if periods else 'none'}"


def written_candidates(candidates: Sequence[Candidate]) -> str:
    """One numbered line a candidate: its arithmetic over paths, and the result."""
    return "\n".join(
        f"{number}. {candidate.path} = {written_number(candidate.answer)}"
        for number, candidate in enumerate(candidates, start=1)
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
