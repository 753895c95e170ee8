"""Lines of a table: the rows and columns of comparable figures, without their totals.

A question such as "which segment grew most?" is about all figures of a column that belong together, whatever their
number. A line leaves out totals and balances, and it ends at them::

                        2019  2018
    north america        120   110     columns: (120, 80), (110, 85), of the two regions
    europe                80    85     rows:    (120, 110), (80, 85), (200, 195), of the two years
    total sales          200   195

A row is a total if its label says so, or if its figures are the sums of those above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from kg.calculations.names import is_time
from kg.calculations.report_index import ReportIndex
from kg.text import tokens

LONGEST = 40
"""Figures of a line at the most."""

_TOTAL = frozenset(tokens("total totals subtotal"))
_NO_PART = frozenset(tokens("balance balances thereafter"))
_KIND_OF_UNIT = {"percent": 1, "shares": 2, "per-share": 3, "ratio": 4, "years": 5}

Extent = Literal["whole", "section", "part", "named", "options", "date"]


@dataclass(frozen=True)
class FigureLine:
    """Comparable figures of one row or one column.

    Attributes:
        cells: Their observations, in the order of the table; at least two.
        labels: The name of each.
        dated: Whether the names are years.
        timed: Whether all names speak of a time.
        across: Whether it is a row.
        named_by: The label that names the figures; the other one is what they share.
        extent: All figures of the row or column, those under one heading, those between two totals, some that a
            question names, or one for each of the things between which it asks to choose. A date in the text is a
            line of its own.
    """

    cells: tuple[int, ...]
    labels: tuple[str, ...]
    dated: bool
    timed: bool
    across: bool
    extent: Extent = "whole"
    named_by: Literal["label", "column"] = "label"

    def part(self, places: Sequence[int], extent: Extent) -> FigureLine:
        """Returns the line of some of the figures."""
        cells = tuple(self.cells[place] for place in places)
        labels = tuple(self.labels[place] for place in places)
        return FigureLine(cells, labels, self.dated, self.timed, self.across, extent, self.named_by)


def is_total(label: str) -> bool:
    """Returns whether a label speaks of a total or of a balance."""
    return not (_TOTAL | _NO_PART).isdisjoint(tokens(label))


class TableLines:
    """The lines of a report's table.

    Args:
        index: The report.
    """

    def __init__(self, index: ReportIndex) -> None:
        self.index = index
        usable = (index.row >= 0) & (index.ordinal == 0)
        usable &= index.is_figure
        self.cell_at = {(int(index.row[cell]), int(index.column[cell])): int(cell) for cell in np.flatnonzero(usable)}
        self._reported = len(index.reported())
        self._kind = np.array([_KIND_OF_UNIT.get(one.quantity.unit, 0) for one in index.observations], dtype=np.int64)
        self.rows = sorted({row for row, _ in self.cell_at})
        self.columns = sorted({column for _, column in self.cell_at})

    @cached_property
    def lines(self) -> tuple[FigureLine, ...]:
        """All lines, each once: rows from the top, then columns from the left."""
        found = [line for row in self.rows for line in self._across(row)]
        found += [line for column in self.columns for line in self._down(column)]
        distinct: dict[tuple[int, ...], FigureLine] = {}
        for line in found:
            distinct.setdefault(line.cells, line)
        return tuple(distinct.values())

    @cached_property
    def total_rows(self) -> frozenset[int]:
        """Rows that sum others up, or are no part of a sum; none if nearly all rows would be."""
        found: set[int] = set()
        for place, row in enumerate(self.rows):
            words = self._words(row, across=True)
            begins = place == 0 or self.rows[place - 1] in found
            if words & _NO_PART or (words & _TOTAL and not begins) or self._is_sum(place, found):
                found.add(row)
        return frozenset(found) if len(found) < len(self.rows) - 1 else frozenset()

    @cached_property
    def total_columns(self) -> frozenset[int]:
        """Columns whose header says that they sum others up; none if nearly all columns would be."""
        found = {column for column in self.columns if self._words(column, across=False) & (_TOTAL | _NO_PART)}
        return frozenset(found) if len(found) < len(self.columns) - 1 else frozenset()

    @cached_property
    def closing_labels(self) -> frozenset[str]:
        """The labels of total rows, and of the first row of a part whose total has the same words but for its time."""
        found: set[str] = set()
        rest = {row: self._words(row, across=True) for row in self.rows}
        untimed = {row: frozenset(word for word in words if not word.isdigit()) for row, words in rest.items()}
        for place, row in enumerate(self.rows):
            if row in self.total_rows:
                found.add(self._label(row))
                opening = [own for own in self.rows[:place] if untimed[own] and untimed[own] == untimed[row]]
                found.update(map(self._label, opening))
        return frozenset(found)

    def _label(self, row: int) -> str:
        return next(self.index.observations[cell].label for key, cell in self.cell_at.items() if key[0] == row)

    def _words(self, place: int, *, across: bool) -> set[str]:
        """The words of the label of a row or a column: of the label that its figures share."""
        cells = [cell for key, cell in self.cell_at.items() if key[0 if across else 1] == place]
        rows, columns = written_labels(self.index, cells, "label"), written_labels(self.index, cells, "column")
        own, other = (rows, columns) if across else (columns, rows)
        return set(tokens((other if len(set(own)) > 1 and len(set(other)) == 1 else own)[0]))

    def _is_sum(self, place: int, totals: set[int]) -> bool:
        """Whether each figure of a row is the sum of the two or more figures above it, from the last total on."""
        row = self.rows[place]
        start = max((number + 1 for number, own in enumerate(self.rows[:place]) if own in totals), default=0)
        above = self.rows[start:place]
        checked = 0
        for column in self.columns:
            cell = self.cell_at.get((row, column))
            addends = [self.cell_at[own, column] for own in above if (own, column) in self.cell_at]
            if cell is None or len(addends) < 2 or len({int(self._kind[one]) for one in (cell, *addends)}) > 1:
                continue
            values = [self.index.observations[one].quantity.value for one in (cell, *addends)]
            exponents = [exponent for value in values if isinstance(exponent := value.as_tuple().exponent, int)]
            rounding = (len(values) / 2) * 10.0 ** min(exponents, default=0)
            if not values[0] or abs(float(values[0] - sum(values[1:]))) > rounding:
                return False
            checked += 1
        return checked > 0

    def _across(self, row: int) -> Iterator[FigureLine]:
        cells = [self.cell_at[row, column] for column in self.columns if (row, column) in self.cell_at]
        parts = [cell for cell in cells if int(self.index.column[cell]) not in self.total_columns]
        for alike in self._by_kind(parts):
            dated = [cell for cell in alike if self.index.period[cell] >= 0]
            for part in {tuple(alike), tuple(dated)}:
                for run in self._distinct_periods(part):
                    yield from self._line(run, across=True, extent="whole")

    def _distinct_periods(self, cells: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """The cells, parted where a period comes a second time."""
        run: list[int] = []
        for cell in cells:
            periods = {int(self.index.period[one]) for one in run}
            period = int(self.index.period[cell])
            if (
                period >= 0
                and period in periods
                and self.index.observations[cell].column_label
                in {self.index.observations[one].column_label for one in run}
            ):
                yield tuple(run)
                run = []
            run.append(cell)
        yield tuple(run)

    def _down(self, column: int) -> Iterator[FigureLine]:
        rows = [row for row in self.rows if (row, column) in self.cell_at]
        cells = [self.cell_at[row, column] for row in rows if self.cell_at[row, column] < self._reported]
        parts: list[list[int]] = [[]]
        for cell in cells:
            if int(self.index.row[cell]) in self.total_rows:
                parts.append([])
            else:
                parts[-1].append(cell)
        for alike in self._by_kind([cell for part in parts for cell in part]):
            yield from self._line(alike, across=False, extent="whole")
        balances = [cell for cell in cells if self._words(int(self.index.row[cell]), across=True) & _NO_PART]
        for alike in self._by_kind(balances):
            yield from self._line(alike, across=False, extent="part")
        sections: dict[str, list[int]] = {}
        for cell in (cell for part in parts for cell in part):
            sections.setdefault(self.index.observations[cell].section, []).append(cell)
        groups = [*((own, "section") for name, own in sections.items() if name), *((part, "part") for part in parts)]
        for group, extent in groups:
            for alike in self._by_kind(group):
                yield from self._line(alike, across=False, extent="section" if extent == "section" else "part")

    def _by_kind(self, cells: Sequence[int]) -> list[list[int]]:
        kinds: dict[int, list[int]] = {}
        for cell in cells:
            kinds.setdefault(int(self._kind[cell]), []).append(cell)
        return list(kinds.values())

    def _line(self, cells: Sequence[int], *, across: bool, extent: Extent) -> Iterator[FigureLine]:
        if not 2 <= len(cells) <= LONGEST:
            return
        periods = [int(self.index.period[cell]) for cell in cells]
        dated = min(periods) >= 0 and len(set(periods)) == len(periods)
        # In a transposed table the columns have the line items and the rows their names.
        own, other = written_labels(self.index, cells, "column"), written_labels(self.index, cells, "label")
        by_column = across if dated or _distinct(own if across else other) else not across
        labels = own if by_column else other
        if dated or _distinct(labels):
            timed = dated or all(map(is_time, labels))
            names = tuple(map(str, periods)) if dated else tuple(labels)
            yield FigureLine(tuple(cells), names, dated, timed, across, extent, "column" if by_column else "label")


def written_labels(index: ReportIndex, cells: Sequence[int], named_by: Literal["label", "column"]) -> list[str]:
    """Returns the labels of rows or of columns of some figures, as the table has them."""
    observations = [index.observations[cell] for cell in cells]
    return [one.column_label if named_by == "column" else one.label for one in observations]


def _distinct(labels: Sequence[str]) -> bool:
    """Whether each figure has a name of its own."""
    return all(labels) and len(set(labels)) == len(labels)
