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
from dataclasses import dataclass, field, replace
from itertools import takewhile

from kg.errors import DataError
from kg.readers.content import MOST_CELLS, RawCell
from kg.text import YEAR

_PREFIX = re.compile(r"(?:(?:us|c|ca|a|au|hk|nz|s|r)?\s?[$€£¥]|usd|eur|gbp|chf)?\s*\(?\s*", re.IGNORECASE)
_SUFFIX = re.compile(r"\)?\s*(?:%|pts|bps)?\s*\)?", re.IGNORECASE)
_NOTE = re.compile(r"\([a-z]\)|[*†‡]+")
_FIGURE = re.compile(
    r"[\s$€£¥(\[\-\u2010-\u2015\u2212+]*(?:[.\d][\d.,'’]*(?:[\s\u00a0]\d{3}(?!\d))*(?:[.,]\d+)?|[-\u2010-\u2015\u2212])"
    r"[\s%)\]x]*"
)
_YEAR = re.compile(rf"\s*{YEAR}\s*")
_COVERED = 0.5
_MOST_STEPS = 20_000_000


@dataclass(frozen=True)
class Extent:
    """A cell with the place of its left and right edge, in any unit."""

    cell: RawCell
    start: float
    end: float


@dataclass
class _CellColumn:
    """The extent that the cells of a column share so far."""

    start: float
    end: float
    cells: list[Extent] = field(default_factory=list)

    def is_covered(self, cell: Extent) -> bool:
        """Whether a cell lies over the column, or in it."""
        shared = min(self.end, cell.end) - max(self.start, cell.start)
        narrower = min(self.end - self.start, cell.end - cell.start)
        return shared > 0 and shared >= _COVERED * narrower


def is_figure(text: str) -> bool:
    """Whether a cell holds a figure or a dash, and not a year alone."""
    return bool(_FIGURE.fullmatch(text)) and not _YEAR.fullmatch(text)


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
    if len(joined) * len(columns) > MOST_CELLS or len(extents) * len(columns) > _MOST_STEPS:
        place = str(cells[0].cell.place)
        raise DataError(f"the table has {len(joined)} rows and {len(columns)} columns, too many: split it", place=place)
    covered: dict[tuple[float, float], list[int]] = {}
    for row in joined:
        for one in row:
            if (one.start, one.end) not in covered:
                covered[one.start, one.end] = [place for place, column in enumerate(columns) if column.is_covered(one)]
    return [_in_columns(row, len(columns), covered) for row in joined]


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


def _columns(cells: Sequence[Extent]) -> list[_CellColumn]:
    """The columns, from left to right."""
    columns: list[_CellColumn] = []
    seen: set[tuple[float, float]] = set()
    for one in sorted(cells, key=lambda one: (not is_figure(one.cell.text), one.end - one.start)):
        if (one.start, one.end) in seen:  # columns only grow, so a second cell of an extent changes nothing
            continue
        seen.add((one.start, one.end))
        if len(seen) * len(columns) > _MOST_STEPS:
            rule = f"the table has {len(cells)} cells of too many widths: split it"
            raise DataError(rule, place=str(cells[0].cell.place))
        under = [column for column in columns if column.is_covered(one)]
        if not under:
            columns.append(_CellColumn(one.start, one.end))
        elif len(under) == 1:
            start, end = min(under[0].start, one.start), max(under[0].end, one.end)
            wider = Extent(one.cell, start, end)
            if not any(column.is_covered(wider) for column in columns if column is not under[0]):
                under[0].start, under[0].end = start, end
    return sorted(columns, key=lambda column: column.start)


def _in_columns(row: Sequence[Extent], count: int, covered: Mapping[tuple[float, float], list[int]]) -> list[RawCell]:
    """A row by columns; ``covered`` has the columns under each extent."""
    if not row:
        return []
    found: list[list[RawCell]] = [[] for _ in range(count)]
    for one in row:
        under = covered[one.start, one.end]
        if under[0] == 0 and len(under) > 1:
            under = [0]
        for place in under:
            found[place].append(one.cell)
    blank = RawCell("", replace(row[0].cell.place, cell=""))
    return [replace(cells[0], text=" ".join(cell.text for cell in cells)) if cells else blank for cells in found]
