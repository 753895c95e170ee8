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

Extent = Literal["table", "named", "options", "date"]


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
        extent: Figures of a row or column, some that a question names, or one for each of the things between which
            it asks to choose. A date in the text is a line of its own.
    """

    cells: tuple[int, ...]
    labels: tuple[str, ...]
    dated: bool
    timed: bool
    across: bool
    extent: Extent = "table"
    named_by: Literal["label", "column"] = "label"

    def part(self, places: Sequence[int], extent: Extent) -> FigureLine:
        """Returns the line of some of the figures."""
        cells = tuple(self.cells[place] for place in places)
        labels = tuple(self.labels[place] for place in places)
        return FigureLine(cells, labels, self.dated, self.timed, self.across, extent, self.named_by)


class TableLines:
    """The lines of a report's table.

    Args:
        index: The report.
    """

    def __init__(self, index: ReportIndex) -> None:
        self.index = index
        usable = (index.row >= 0) & (index.ordinal == 0) & index.is_figure
        places = np.flatnonzero(usable)
        self.cell_at = {(int(index.row[cell]), int(index.column[cell])): int(cell) for cell in places}
        self._kind = [_KIND_OF_UNIT.get(one.quantity.unit, 0) for one in index.observations]
        self._rows: dict[int, list[int]] = {}
        self._columns: dict[int, list[int]] = {}
        for (row, column), cell in sorted(self.cell_at.items()):
            self._rows.setdefault(row, []).append(cell)
            self._columns.setdefault(column, []).append(cell)

    @cached_property
    def lines(self) -> tuple[FigureLine, ...]:
        """All lines, each once: rows from the top, then columns from the left."""
        groups = [group for cells in self._rows.values() for group in self._across(cells)]
        groups += [group for _, cells in sorted(self._columns.items()) for group in self._down(cells)]
        distinct: dict[tuple[int, ...], FigureLine] = {}
        for group in groups:
            for cells in self._by_kind(group):
                line = self._line(cells) if 2 <= len(cells) <= LONGEST else None
                if line is not None:
                    distinct.setdefault(line.cells, line)
        return tuple(distinct.values())

    @cached_property
    def total_rows(self) -> frozenset[int]:
        """Rows that sum others up, or are no part of a sum; none if nearly all rows would be."""
        found: set[int] = set()
        above: list[int] = []
        for row in self._rows:
            words = self._words(self._rows[row], across=True)
            if words & _NO_PART or (words & _TOTAL and above) or self._is_sum(row, above):
                found.add(row)
                above = []
            else:
                above.append(row)
        return frozenset(found) if len(found) < len(self._rows) - 1 else frozenset()

    @cached_property
    def total_columns(self) -> frozenset[int]:
        """Columns whose header says that they sum others up; none if nearly all columns would be."""
        named = {column: self._words(cells, across=False) for column, cells in self._columns.items()}
        found = frozenset(column for column, words in named.items() if words & (_TOTAL | _NO_PART))
        return found if len(found) < len(self._columns) - 1 else frozenset()

    def _words(self, cells: Sequence[int], *, across: bool) -> set[str]:
        """The words of the label of a row or a column: of the label that its figures share."""
        rows, columns = written_labels(self.index, cells, "label"), written_labels(self.index, cells, "column")
        own, other = (rows, columns) if across else (columns, rows)
        return set(tokens((other if len(set(own)) > 1 and len(set(other)) == 1 else own)[0]))

    def _is_sum(self, row: int, above: Sequence[int]) -> bool:
        """Whether each figure of a row is the sum of the two or more figures of its column in the rows above it."""
        checked = False
        for cell in self._rows[row]:
            column = int(self.index.column[cell])
            cells = [cell, *(self.cell_at[own, column] for own in above if (own, column) in self.cell_at)]
            if len(cells) < 3 or len({self._kind[one] for one in cells}) > 1:
                continue
            values = [self.index.observations[one].quantity.value for one in cells]
            exponents = [exponent for value in values if isinstance(exponent := value.as_tuple().exponent, int)]
            rounding = (len(values) / 2) * 10.0 ** min(exponents, default=0)
            if not any(values):  # zeros add up whatever is a total
                continue
            if not values[0] or abs(float(values[0] - sum(values[1:]))) > rounding:
                return False
            checked = True
        return checked

    def _across(self, cells: Sequence[int]) -> Iterator[Sequence[int]]:
        """The runs of a row, of figures of one kind, and of those with a period."""
        for alike in self._by_kind([cell for cell in cells if self.index.column[cell] not in self.total_columns]):
            dated = [cell for cell in alike if self.index.period[cell] >= 0]
            for part in dict.fromkeys((tuple(alike), tuple(dated))):
                yield from self._distinct_periods(part)

    def _distinct_periods(self, cells: Sequence[int]) -> Iterator[list[int]]:
        """The cells, parted where a period comes a second time."""
        run: list[int] = []
        for cell in cells:
            period, label = self.index.period[cell], self.index.observations[cell].column_label
            labels = {self.index.observations[one].column_label for one in run}
            if period >= 0 and period in self.index.period[run] and label in labels:
                yield run
                run = []
            run.append(cell)
        yield run

    def _down(self, cells: Sequence[int]) -> Iterator[Sequence[int]]:
        """The figures of a column: all but totals, its balances, and those of each part."""
        parts: list[list[int]] = [[]]
        for cell in cells:
            if int(self.index.row[cell]) in self.total_rows:
                parts.append([])
            else:
                parts[-1].append(cell)
        yield [cell for part in parts for cell in part]
        rows = ((cell, self._rows[int(self.index.row[cell])]) for cell in cells)
        yield [cell for cell, row in rows if self._words(row, across=True) & _NO_PART]
        yield from parts

    def _by_kind(self, cells: Sequence[int]) -> list[list[int]]:
        kinds: dict[int, list[int]] = {}
        for cell in cells:
            kinds.setdefault(self._kind[cell], []).append(cell)
        return list(kinds.values())

    def _line(self, cells: Sequence[int]) -> FigureLine | None:
        """The line of some cells; ``None`` where they have no names of their own."""
        periods = [int(self.index.period[cell]) for cell in cells]
        dated = min(periods) >= 0 and len(set(periods)) == len(periods)
        across = bool(self.index.row[cells[0]] == self.index.row[cells[1]])
        # In a transposed table the columns have the line items and the rows their names.
        own, other = written_labels(self.index, cells, "column"), written_labels(self.index, cells, "label")
        by_column = across if dated or _distinct(own if across else other) else not across
        labels = own if by_column else other
        if not dated and not _distinct(labels):
            return None
        timed = dated or all(map(is_time, labels))
        names = tuple(map(str, periods)) if dated else tuple(labels)
        return FigureLine(tuple(cells), names, dated, timed, across, named_by="column" if by_column else "label")


def written_labels(index: ReportIndex, cells: Sequence[int], named_by: Literal["label", "column"]) -> list[str]:
    """Returns the labels of rows or of columns of some figures, as the table has them."""
    observations = [index.observations[cell] for cell in cells]
    return [one.column_label if named_by == "column" else one.label for one in observations]


def _distinct(labels: Sequence[str]) -> bool:
    """Whether each figure has a name of its own."""
    return all(labels) and len(set(labels)) == len(labels)
