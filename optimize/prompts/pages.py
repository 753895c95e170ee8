"""Labels of the predictor that reads a page, from gold programs.

>>> label = page_label(index, report, question, program, past, "the change of net income")
>>> label["calculation"], label["page"].splitlines()[2]
('subtract([r1c1], [r1c2])', 'r1: net income | [r1c1] $ 10 | [r1c2] $ 12')

A gold program names figures by their value. Each becomes the identifier of the figure that it most likely means. A
label whose calculation does not give the gold answer is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kg.derivations import Derivation, PastTurn
from kg.errors import FinpathError
from kg.figures import ReportIndex
from kg.reports import Report
from kg.search import merge_key
from programs.worlds.page import (
    PageFigures,
    excerpt,
    read_calculation,
    written_calculation,
    written_page,
    written_turns,
)

CONFIDENCE = 95
"""The confidence of a demonstration: gold is right in all but few turns."""

_IDENTIFIER = re.compile(r"\[((?:r\d+c\d+|s\d+)(?:n\d+)?)\]")


def page_label(
    index: ReportIndex, report: Report, question: str, program: str, past: Sequence[PastTurn], meaning: str
) -> dict[str, Any] | None:
    """Returns the fields of a demonstration of :class:`signatures.understand.Understand`, with the lines that it uses.

    Args:
        index: The report's index.
        report: The report.
        question: The question.
        program: Its gold program.
        past: The turns before it, with gold derivations.
        meaning: The question spelled out.

    Returns:
        ``None`` if the program cannot be written over figures of the page.
    """
    figures = PageFigures(index)
    earlier = [identified(turn, figures) for turn in past]
    derivation = Derivation.parse(program)
    found = figures.identified(derivation, question)
    if found is None:
        return None
    calculation, conversation = written_calculation(found, earlier), written_turns(earlier)
    try:
        named = read_calculation(calculation, figures, earlier, [*(turn.question for turn in past), question])
        wanted = merge_key(derivation.execute(report.table))
        options = [named.answer, *(one.execute() for one in named.readings)] if named is not None else []
    except FinpathError:
        return None
    if wanted not in map(merge_key, options):
        return None
    page = written_page(report, index, _WHOLE, _never).text
    return {
        "page": excerpt(page, _IDENTIFIER.findall(f"{calculation} {conversation}")),
        "conversation": conversation,
        "note": "none",
        "meaning": meaning,
        "calculation": calculation,
        "confidence": CONFIDENCE,
    }


_WHOLE = 10**9


def _never() -> Any:
    raise AssertionError("a page without a budget is not cut")


def identified(turn: PastTurn, figures: PageFigures) -> PastTurn:
    """Returns a turn whose derivation names the figures of the page, or none if some are not there."""
    found = figures.identified(turn.derivation, turn.question) if turn.derivation is not None else None
    return replace(turn, derivation=found)
