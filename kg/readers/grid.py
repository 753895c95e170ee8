"""The logical columns of a table whose cells have extents: columns of a page's grid, or points of a page.

Reports set a currency sign, a figure and its closing parenthesis in three cells, and a header over all three::

    >>> page = Place("report.html")
    >>> head = [Extent(RawCell("2024", page), 3, 6), Extent(RawCell("2023", page), 7, 10)]
    >>> line = [("Net loss", 0, 3), ("$", 3, 4), ("(95", 4, 5), (")", 5, 6), ("$", 7, 8), ("(88", 8, 9), (")", 9, 10)]
    >>> body = [Extent(RawCell(text, page), start, end) for text, start, end in line]
    >>> [[cell.text for cell in row] for row in arrange([head, body])]
    [['', '2024', '2023'], ['Net loss', '$ (95)', '$ (88)']]

Signs join their figure. Cells that overlap form a column, the narrowest figures first. A wide cell is a header over
all columns that it covers, or, where it covers the labels too, the heading of its row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from kg.errors import DataError
from kg.readers.content import MOST_CELLS, RawCell
from kg.reports import YEARS_OR_UNIT

_PREFIX = re.compile(r"(?:(?:us|c|ca|a|au|hk|nz|s|r)?\s?[$€£¥]|usd|eur|gbp|chf)?\s*\(?\s*", re.IGNORECASE)
_SUFFIX = re.compile(r"\)?\s*(?:%|pts|bps)?\s*\)?", re.IGNORECASE)
_NOTE = re.compile(r"\([a-z]\)|[*†‡]+")
_FIGURE = re.compile(
    r"[\s$€£¥(\[\-\u2010-\u2015\u2212+]*(?:[.\d][\d.,'’]*(?:[\s\u00a0]\d{3}(?!\d))*(?:[.,]\d+)?|[-\u2010-\u2015\u2212])"
    r"[\s%)\]x]*"
)
_COVERED = 0.5
_MOST_STEPS = 20_000_000


@dataclass(frozen=True)
class Extent:
    """A cell with the place of its left and right edge, in any unit."""

    cell: RawCell
    start: float
    end: float


class _ColumnExtents(NamedTuple):
    """The extents of columns: what the cells of each share."""

    starts: np.ndarray
    ends: np.ndarray

    def under(self, start: float, end: float) -> np.ndarray:
        """The places of the columns that lie under an extent, or hold it."""
        shared = np.minimum(self.ends, end) - np.maximum(self.starts, start)
        narrower = np.minimum(self.ends - self.starts, end - start)
        return np.flatnonzero((shared > 0) & (shared >= _COVERED * narrower))


def is_figure(text: str) -> bool:
    """Whether a cell holds a figure or a dash, and not years or a unit alone."""
    return bool(_FIGURE.fullmatch(text)) and not YEARS_OR_UNIT.fullmatch(text)


def arrange(rows: Sequence[Sequence[Extent]]) -> list[list[RawCell]]:
    """The cells of a table by its logical columns; rows have equal length.

    Args:
        rows: The cells of each row with their extents, in any order; cells without text count for nothing.

    Returns:
        The rows; one without text is empty.
    """
    filled = [[one for one in row if one.cell.text] for row in rows]
    joined = filled if _are_columns_named(filled) else list(map(_join_signs, filled))
    cells = [one for row in joined for one in row]
    columns = _columns(cells)
    extents = {(one.start, one.end) for one in cells}
    count = len(columns.starts)
    if len(joined) * count > MOST_CELLS or len(extents) * count > _MOST_STEPS:
        place = str(cells[0].cell.place)
        raise DataError(f"the table has {len(joined)} rows and {count} columns, too many: split it", place=place)
    covered = {extent: columns.under(*extent).tolist() for extent in extents}
    return [_in_columns(row, count, covered) for row in joined]


def _are_columns_named(rows: Sequence[Sequence[Extent]]) -> bool:
    """Whether a row above the figures names each column, so that no column is for signs alone."""
    columns = {one.start for row in rows for one in row}
    heads = takewhile(lambda row: not any(is_figure(one.cell.text) for one in row), rows)
    return any(len(row) == len(columns) for row in heads)


def arrange_cells(rows: Sequence[Sequence[RawCell]]) -> tuple[tuple[RawCell, ...], ...]:
    """The cells of a table whose cells have no spans, by its logical columns."""
    placed = [[Extent(cell, place, place + 1) for place, cell in enumerate(row)] for row in rows]
    return tuple(map(tuple, arrange(placed)))


def _join_signs(row: Sequence[Extent]) -> list[Extent]:
    """A row with its currency signs, parentheses and percent signs joined to their figures."""
    found: list[Extent] = []
    waiting: Extent | None = None
    for one in sorted(row, key=lambda one: one.start):
        text = one.cell.text
        if waiting is not None and not _FIGURE.fullmatch(text):
            found.append(waiting)
            waiting = None
        if _PREFIX.fullmatch(text):
            waiting = one
        elif waiting is not None:
            found.append(_joined(waiting, one, "" if waiting.cell.text.endswith("(") else " "))
            waiting = None
        elif found and is_figure(found[-1].cell.text) and _SUFFIX.fullmatch(text):
            found[-1] = _joined(found[-1], one, "")
        elif not (found and is_figure(found[-1].cell.text) and _NOTE.fullmatch(text)):
            found.append(one)
    return [*found, waiting] if waiting is not None else found


def _joined(left: Extent, right: Extent, between: str) -> Extent:
    fact = left.cell.fact if left.cell.fact is not None else right.cell.fact
    core = right if is_figure(right.cell.text) else left
    cell = replace(core.cell, text=f"{left.cell.text}{between}{right.cell.text}", fact=fact)
    return Extent(cell, min(left.start, right.start), max(left.end, right.end))


def _columns(cells: Sequence[Extent]) -> _ColumnExtents:
    """The columns, from left to right."""
    by_width = sorted(cells, key=lambda one: (not is_figure(one.cell.text), one.end - one.start))
    extents = list(dict.fromkeys((one.start, one.end) for one in by_width))
    starts, ends = np.zeros(len(extents)), np.zeros(len(extents))
    count = 0
    for seen, (start, end) in enumerate(extents, start=1):
        if seen * count > _MOST_STEPS:
            rule = f"the table has {len(cells)} cells of too many widths: split it"
            raise DataError(rule, place=str(cells[0].cell.place))
        columns = _ColumnExtents(starts[:count], ends[:count])
        under = columns.under(start, end)
        if not len(under):
            starts[count], ends[count] = start, end
            count += 1
        elif len(under) == 1:
            [place] = under
            wider = min(starts[place], start), max(ends[place], end)
            if columns.under(*wider).tolist() == [place]:
                starts[place], ends[place] = wider
    order = np.argsort(starts[:count], kind="stable")
    return _ColumnExtents(starts[order], ends[order])


def _in_columns(row: Sequence[Extent], count: int, covered: Mapping[tuple[float, float], list[int]]) -> list[RawCell]:
    """A row by columns; ``covered`` has the columns under each extent."""
    if not row:
        return []
    found: list[list[RawCell]] = [[] for _ in range(count)]
    places = [covered[one.start, one.end] for one in row]
    places = [[0] if under[0] == 0 and len(under) > 1 else under for under in places]
    used = [place for under in places for place in under]
    overlaps = len(set(used)) < len(used) and max(used) > 0
    if overlaps and len(row) == count - (0 not in used):  # spans that do not fit, but a cell for each column
        places = [[place] for place in range(count - len(row), count)]
    for one, under in zip(row, places, strict=True):
        for place in under:
            found[place].append(one.cell)
    blank = RawCell("", replace(row[0].cell.place, cell=""))
    return [replace(cells[0], text=" ".join(cell.text for cell in cells)) if cells else blank for cells in found]
