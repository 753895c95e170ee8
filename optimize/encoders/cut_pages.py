"""Pages cut to a few rows, with the rows that a question needs or without some of them.

>>> [(len(report.table), answer) for report, answer in cut_pages(report, turn)]
[(4, Decimal('118251')), (3, None)]

On a large page, rivals of a wrong figure lower the confidence. A small page has few, so it must be fitted there too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from kg.reports import CellSource, Report
from kg.search import Answer, Number
from optimize.scorers import TrainingTurn, right_items

MOST_ROWS = 6
"""Rows with figures of a cut page, unless the question needs more."""


def cut_pages(report: Report, turn: TrainingTurn) -> Iterator[tuple[Report, Answer | None]]:
    """Returns the page of a first turn with the rows of its figures, and without some, each with its answer.

    A page without the answer has no row with the label or a figure of the rows that it lacks. There are no pages for a
    turn whose figures are not in exactly one row each, nor where fewer than two other rows are left.
    """
    body: dict[int, set[float]] = {}
    for one in turn.index.observations:
        if isinstance(one.source, CellSource) and not one.in_header:
            body.setdefault(one.source.row, set()).add(abs(float(one.quantity.value)))
    numbers = [one for one in turn.collapsed.operands if isinstance(one, Number)] if turn.collapsed is not None else []
    places = [set(turn.index.row[turn.index.base[right_items(turn.index, one)]].tolist()) & {*body} for one in numbers]
    if not numbers or any(len(rows) != 1 for rows in places):
        return
    draw = random.Random(f"{report.id} {turn.questions[0]}")
    needed = sorted(set().union(*places))
    gone = draw.sample(needed, draw.randint(1, len(needed)))
    labels, amounts = {report.table[row][0] for row in gone}, {abs(float(one.value)) for one in numbers}
    others = [row for row in body if row not in needed]
    safe = [row for row in others if report.table[row][0] not in labels and amounts.isdisjoint(body[row])]
    if len(safe) < 2:
        return
    size = draw.randint(2, MOST_ROWS)
    for answer, kept, more in ((turn.answer, needed, others), (None, [row for row in needed if row not in gone], safe)):
        count = min(max(size - len(kept), int(answer is None)), len(more))
        rows = (*range(min(body)), *sorted([*kept, *draw.sample(more, count)]))
        yield replace(report, pre_text=(), post_text=(), table=tuple(report.table[row] for row in rows)), answer
