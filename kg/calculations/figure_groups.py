"""Groups of figures that a question may aggregate: parts of rows and columns, figures of a sentence, earlier look-ups.

sales by region and year            each row, each column without its totals
"from 2005 to 2007", "three years"  the cells of these years
"rent, wages and fuel"              the cells of a column whose rows the question names
"$ 5, $ 6 and $ 9 in 2007, 2006 …"  the figures of one unit in a sentence
"and their average?"                the figures that were looked up before
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kg.calculations.asked_aggregates import AskedAggregates
from kg.calculations.line_pointers import NAMED, LinePointers
from kg.calculations.lines import FigureLine, is_total

LONGEST = 24
"""Figures of a group at the most."""

EXTENTS = ("whole", "section", "part", "years", "listed", "named", "count", "except")
"""The choice of a group among the figures of its line."""

AXES = ("row", "column", "text", "block", "earlier")
"""Where the figures of a group are."""


@dataclass(frozen=True)
class FigureGroup:
    """Figures that belong together.

    Attributes:
        line: The figures with their labels.
        axis: One of :data:`AXES`.
        extent: One of :data:`EXTENTS`.
    """

    line: FigureLine
    axis: str
    extent: str


def figure_groups(pointers: LinePointers, asked: AskedAggregates) -> list[FigureGroup]:
    """The groups of a report for a question, each set of figures once."""
    found: dict[frozenset[int], FigureGroup] = {}
    for group in _all(pointers, asked):
        if 2 <= len(group.line.cells) <= LONGEST:
            found.setdefault(frozenset(group.line.cells), group)
    return list(found.values())


def _all(pointers: LinePointers, asked: AskedAggregates) -> Iterator[FigureGroup]:
    for line in _earlier(pointers):
        yield FigureGroup(line, "earlier", "whole")
    yield from _blocks(pointers)
    lines = [(line, "row" if line.across else "column") for line in pointers.table.lines]
    lines += [(line, "column") for line in _whole_columns(pointers)]
    lines += [(line, "text") for line in _sentences(pointers)]
    for line, axis in lines:
        for places, extent in _parts(pointers, line, asked):
            yield FigureGroup(line.part(places, "named"), axis, extent)
    for line, axis in lines:
        if line.extent != "named":
            yield FigureGroup(line, axis, line.extent)


def _parts(pointers: LinePointers, line: FigureLine, asked: AskedAggregates) -> Iterator[tuple[Sequence[int], str]]:
    """The places of the figures that the question speaks of."""
    for run in pointers.listed(line):
        yield run, "listed"
    shares = pointers.named_shares(line)
    named = [place for place, share in enumerate(shares) if share >= NAMED]
    yield named, "named"
    if asked.rest and named:
        yield [place for place in range(len(line.cells)) if place not in named], "except"
    if not line.timed and 2 <= asked.count < len(line.cells):
        for start in range(len(line.cells) - asked.count + 1):
            yield range(start, start + asked.count), "count"
    if not line.dated:
        return
    order = sorted(range(len(line.cells)), key=lambda place: int(line.labels[place]))
    years = [int(line.labels[place]) for place in order]
    asked_years = pointers.years
    if len(asked_years) >= 2:
        yield _between(order, years, min(asked_years), max(asked_years)), "years"
    if asked.count >= 2:
        for year in asked_years:
            yield _between(order, years, year - asked.count + 1, year), "count"
            yield _between(order, years, year, year + asked.count - 1), "count"
            yield _between(order, years, year + 1, year + asked.count), "count"
        yield sorted(order[-asked.count :]), "count"
        yield sorted(order[: asked.count]), "count"


def _between(order: Sequence[int], years: Sequence[int], first: int, last: int) -> list[int]:
    return sorted(place for place, year in zip(order, years, strict=True) if first <= year <= last)


def _whole_columns(pointers: LinePointers) -> Iterator[FigureLine]:
    """The cells of each column with its totals, of which a question may name some."""
    table, index = pointers.table, pointers.index
    reported = len(index.reported())
    for column in table.columns:
        cells = [table.cell_at[row, column] for row in table.rows if (row, column) in table.cell_at]
        by_unit: dict[int, list[int]] = {}
        for cell in cells:
            if cell < reported and index.observations[cell].label:
                by_unit.setdefault(int(index.unit[cell]), []).append(cell)
        for alike in by_unit.values():
            labels = [index.observations[cell].label for cell in alike]
            if any(map(is_total, labels)) and len(alike) >= 2:
                yield FigureLine(tuple(alike), tuple(labels), False, False, False, "named")


def _sentences(pointers: LinePointers) -> Iterator[FigureLine]:
    """The figures of one unit in each sentence."""
    index = pointers.index
    in_text = np.flatnonzero(index.sentence >= 0)
    groups: dict[tuple[int, int, int], list[int]] = {}
    for cell in in_text.tolist():
        groups.setdefault((int(index.sentence[cell]), int(index.unit[cell]), int(index.scale[cell])), []).append(cell)
    for cells in groups.values():
        cells.sort(key=lambda cell: int(index.ordinal[cell]))
        if not 3 <= len(cells) <= LONGEST:
            continue
        periods = [int(index.period[cell]) for cell in cells]
        dated = min(periods) >= 0 and len(set(periods)) == len(periods)
        labels = map(str, periods) if dated else (index.observations[cell].label for cell in cells)
        yield FigureLine(tuple(cells), tuple(labels), dated, dated, False, "whole")


def _blocks(pointers: LinePointers) -> Iterator[FigureGroup]:
    """The cells of several rows that the question names, in all dated columns or those of the years that it names."""
    table, index = pointers.table, pointers.index
    by_row = {int(index.row[line.cells[0]]): line for line in table.lines if line.across and line.dated}
    first = {row: index.observations[line.cells[0]].label for row, line in by_row.items()}
    if len(set(first.values())) < 2 or not all(first.values()):
        return
    labels = FigureLine(
        tuple(line.cells[0] for line in by_row.values()), tuple(first.values()), False, False, False, "named"
    )
    shares = pointers.named_shares(labels)
    rows = [line for line, share in zip(by_row.values(), shares, strict=True) if share >= NAMED]
    if len(rows) < 2:
        return
    years = pointers.years
    least, most = (min(years), max(years)) if len(years) >= 2 else (0, 9999)
    cells = [cell for line in rows for cell in line.cells if least <= int(index.period[cell]) <= most]
    names = tuple(index.observations[cell].label for cell in cells)
    yield FigureGroup(FigureLine(tuple(cells), names, False, False, False, "named"), "block", "named")


def _earlier(pointers: LinePointers) -> Iterator[FigureLine]:
    """The figures that the last turns of the most probable history looked up, or that the last turn added up."""
    turns = pointers.space.histories[pointers.history].turns
    if turns and turns[-1].derivation is not None and {one.operation for one in turns[-1].derivation.steps} == {"add"}:
        cells = tuple(dict.fromkeys(turns[-1].all_figures))
        labels = tuple(pointers.index.observations[cell].label for cell in cells)
        yield FigureLine(cells, labels, False, False, False, "whole")
    found: list[int] = []
    for turn in reversed(turns):
        if turn.derivation is None or not turn.derivation.is_look_up or len(turn.all_figures) != 1:
            break
        if turn.all_figures[0] not in found:
            found.insert(0, turn.all_figures[0])
        if len(found) >= 2:
            labels = tuple(pointers.index.observations[cell].label for cell in found)
            yield FigureLine(tuple(found), labels, False, False, False, "whole")
