"""A turn about a report in words, for a terminal, and as figures.

print(describe_turn(turn, report))
"""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from experiments.console import format_table, shorten, write_answer, write_share
from kg.reports import CellSource, Report, Source
from programs.turns import AnyTurn, QueryDetail, TextDetail, ToolCall, Turn, write_exactly

_WIDTH = 100


def describe_source(source: Source, report: Report) -> str:
    """The place of a figure, with the text of its cell or sentence and the figure in brackets; counts from 1."""
    if isinstance(source, CellSource):
        text = _marked(report.table[source.row][source.column], source.start, source.end)
        row, column = report.table[source.row][0], report.table[0][source.column]
        return f'table, row {source.row + 1} "{row}", column {source.column + 1} "{column}": {text}'
    text = _marked(report.sentences[source.sentence], source.start, source.end)
    start = max(0, text.index("[") - 60)
    cut = ("..." if start else "") + text[start:]
    return f"sentence {source.sentence + 1}: {shorten(cut, 160)}"


def _marked(text: str, start: int, end: int) -> str:
    return f"{text[:start]}[{text[start:end]}]{text[end:]}"


def describe_turn(
    turn: Turn,
    report: Report,
    candidates: int = 0,
    describe: Callable[[Source], str] | None = None,
    width: int | None = None,
) -> str:
    """A turn for a reader: the answer, then its basis.

    Args:
        turn: The turn.
        report: The report.
        candidates: The number of candidates that are shown.
        describe: Names the place of a figure.
        width: The width of a terminal; ``None`` for no limit.
    """
    describe = describe if describe is not None else lambda source: describe_source(source, report)
    lines = [f"Q  {turn.question}"]
    exact = write_answer(turn.answer)
    notes = [f"exactly {exact}"] if turn.words and turn.words != exact else []
    if turn.confidence is not None:
        notes.append(f"confidence {write_share(turn.confidence, 0)}")
    lines.append(f"A  {turn.words or exact}" + (f"   ({', '.join(notes)})" if notes else ""))
    if turn.failure is not None:
        lines.append(f"   no answer: {turn.message or turn.failure}")
    lines += [_wrapped("asked", describe_call(call), width) for call in turn.tool_calls]
    lines += [_wrapped(title, text, width) for title, text in basis_of(turn, describe)]
    if candidates:
        lines.append(candidates_table(turn, candidates, width))
    return "\n".join(lines)


def basis_of(turn: Turn, describe: Callable[[Source], str]) -> Iterator[tuple[str, str]]:
    """The basis of an answer: the calculation, the paths, and the places of the figures."""
    if turn.derivation is not None and not turn.derivation.is_look_up and turn.answer is not None:
        yield "calculated", f"{turn.derivation} = {write_answer(turn.answer)}"
    if turn.pick is not None:
        picked = turn.candidates[turn.pick]
        paths = dict.fromkeys(number.path for number in picked.derivation.numbers if number.path is not None)
        for path in paths or [picked.path]:
            yield "path", path
        for source in dict.fromkeys(picked.sources):
            yield "read in", describe(source)


def candidates_table(turn: Turn, count: int, width: int | None = None) -> str:
    """The first ``count`` candidates, the pick marked with ``>``."""
    rows = [
        [">" if place == turn.pick else "", place + 1, f"{one.score:.2f}", write_answer(one.answer), one.derivation]
        for place, one in enumerate(turn.candidates[:count])
    ]
    return textwrap.indent(
        format_table(["", "", "score", "answer", "calculation"], rows, right={2}, width=_less(width)), "   "
    )


def _less(width: int | None) -> int | None:
    """A terminal's width without the indent of a turn."""
    return width - 3 if width is not None else None


def describe_call(call: ToolCall) -> str:
    """A tool call with its output: ``query_kg(period="2009") -> f1 = 120``."""
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items())
    return f"{call.tool}({arguments}) -> {call.output}{' (an error)' if call.failed else ''}"


def understood(understanding: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The parts of an understanding that are not empty, as text."""
    parts = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else value for name, value in understanding.items()
    }
    return [(name, str(value)) for name, value in parts.items() if value not in (None, "")]


def _wrapped(title: str, text: str, width: int | None) -> str:
    """A line under its title, continued below itself; the steps of a path are kept together where they fit."""
    lead = f"   {title:<12}"
    # A space that does not break holds an arrow to the name that it leads to.
    held = text.replace(" -> ", "\u00a0-> ")
    whole: dict[str, Any] = {"break_on_hyphens": False, "break_long_words": False}
    lines = textwrap.wrap(held, min(_WIDTH, width or _WIDTH), initial_indent=lead, subsequent_indent=" " * 17, **whole)
    return "\n".join(lines).replace("\u00a0", " ")


def turn_figures(turn: Turn, describe: Callable[[Source], str]) -> dict[str, Any]:
    """A turn for ``--json``; ``describe`` names the place of a figure."""
    picked = turn.candidates[turn.pick] if turn.pick is not None else None
    return {
        "question": turn.question,
        "answer": write_answer(turn.answer) if turn.answer is not None else None,
        "exact": write_exactly(turn.answer),
        "words": turn.words or None,
        "program": str(turn.derivation) if turn.derivation is not None else None,
        "path": picked.path if picked is not None else None,
        "sources": [describe(source) for source in picked.sources] if picked is not None else [],
        "confidence": turn.confidence,
        "failure": turn.failure,
        "message": turn.message,
        "tool_calls": [dataclasses.asdict(call) for call in turn.tool_calls],
        "explanation": turn.explanation,
        "lm_calls": turn.usage.lm_calls,
        "prompt_tokens": turn.usage.prompt_tokens,
        "cached_prompt_tokens": turn.usage.cached_prompt_tokens,
        "seconds": turn.usage.seconds,
    }


def answer_figures(turn: AnyTurn) -> dict[str, Any]:
    """A turn about any world for ``--json``: question, answers, abstention, confidence, path and facts."""
    detail = turn.detail
    picked = turn.candidates[turn.pick] if turn.pick is not None else None
    path, facts = picked.path if picked is not None else None, list[str]()
    if isinstance(detail, QueryDetail):
        path, facts = detail.path or None, list(detail.facts)
    elif isinstance(detail, TextDetail):
        edges = [edge for fact in detail.retrieved for edge in fact.path]
        path, facts = "; ".join(edges) or None, list(detail.facts)
    answers = None
    if turn.answer is not None:
        answers = [*map(str, turn.answer)] if isinstance(turn.answer, tuple) else [str(turn.answer)]
    return {
        "question": turn.question,
        "canonical": turn.canonical,
        "answers": answers,
        "abstained": turn.failure is not None,
        "confidence": turn.confidence,
        "path": path,
        "facts": facts,
        "message": turn.message,
    }
