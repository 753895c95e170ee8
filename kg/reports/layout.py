"""The layout of a table: headers, labels, sections, periods, units, scales and missing values.

    >>> layout = analyse_table((("in millions", "2009", "2008"), ("assets:", "", ""), ("cash", "$ 5", "4")))
    >>> layout.header_rows, layout.columns[1].period, layout.sections[2], layout.scale
    (1, '2009', 'assets', 1000000)

The rules come from training documents only:

- **Header rows**: row 0 unless it holds data; further rows while their label is empty and they hold no data.
- **Merged header**: if the headers of all columns of figures end in a figure, row 0 is a row of data too.
- **Transposed**: no column has a period, and at least half of the rows are named by one.
- **Period of a column**: the year in its header. If columns repeat a header of several years (two flattened rows), they
  take these years in turn and continue the series. A repeated header of one year means the year before.
- **Period of a row**: the year in its label, unless it is a due date. If no column has a period, rows below a dated
  section have its period. Rows between two dated balances of one line item have the later period.
- **Section**: a row with only a label starts a section, as does a date above a repeated header.
- **Unit**: a figure's own, else its label's, else that of the nearest cell above or below. Counted things (employees,
  barrels) inherit no unit and no "in millions". A figure above 100 inherits no percent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from kg.reports.headers import (
    DATA,
    NO_AMOUNT,
    SCALE,
    TRAILING,
    ZERO,
    Table,
    column_periods,
    count_header_rows,
    header_label,
    is_data,
    is_date_alone,
    is_labelled,
    is_merged_header,
    is_section,
    is_transposed,
    period_of,
    roll_forward,
    section_headings,
)
from kg.text import SCALES, YEAR, Date, Quantity, Unit, english_table, find_dates, find_quantities

_CAPTION_SCALE = re.compile(
    r"(?:\bin|\(|[$€£]|\bdollars|\bamounts?)\s*(?:u\s?\.?\s?s\s?\.?\s?)?[$€£]?\s*(?:in )?(thousand|million|billion)s\b",
    re.IGNORECASE,
)
_COUNTED = (
    r"\bnumber of\b|\bhead ?count\b|^(?:total |full[- ]time )*employees\b|\bemployees$|\bsquare (?:feet|foot|meters)\b"
    r"|\(\s?(?:in )?(?:thousands? |millions? |billions? )?(?:of )?"
    r"(?:bcf|mmcf|mcf|mmbtu|kmt|mt|[kmg]wh(?:rs?)?|mmboe|mboe|boe|bbls?|barrels|tons|tonnes|ounces|gallons|miles|acres|units"
    r"|days|employees)\b[^()]*\)"
)
"""The pattern of labels of counted or weighed things, which are no amounts of money."""

_LABEL_UNITS: tuple[tuple[Unit, re.Pattern[str]], ...] = (
    ("shares", re.compile(r"\bshares outstanding\b|\bnumber of shares\b", re.I)),
    (
        "per-share",
        re.compile(r"\bper(?:\s+\w+){0,2}\s+(?:share|unit)\b|\bexercise ?price|grant.?date ?fair|\beps\b", re.I),
    ),
    ("percent", re.compile(r"(?<![\d.%])(?<![\d.] )%|(?<!\d )\b(?:percent(?:age)?s?|per cent)\b", re.I)),
    (
        "years",
        re.compile(r"\b(?:term|life|lives|period)\b\D{0,20}\byears?\b|\( ?(?:in )?years ?\)|\bexpected life\b", re.I),
    ),
    ("ratio", re.compile(r"\bratios?\b|\btimes\b", re.I)),
    ("shares", re.compile(r"(?<!per )\b(?:shares|number of (?:securities|options|units|rsus))\b", re.I)),
    ("currency", re.compile(r"[$€£¥]|\bdollars\b", re.I)),
    ("plain", re.compile(_COUNTED, re.I)),
)
_MOST_PERCENT = 100
_SCALED: frozenset[Unit] = frozenset({"currency", "shares", "plain"})


@dataclass(frozen=True)
class TableLine:
    """A row or column with its label as written, and the period, unit and scale of the label."""

    label: str
    period: str | None
    unit: Unit | None
    scale: int | None


@dataclass(frozen=True)
class TableLayout:
    """The layout of a table.

    Attributes:
        table: The cells as written; continental figures as English ones (see ``kg.text.number_formats``).
        header_rows: The number of header rows at the top; 0 if row 0 holds data.
        transposed: Whether rows are periods and columns are line items.
        rows: One line for each row.
        columns: One line for each column.
        sections: The heading above each row, or empty.
        labelled: Whether column 0 holds labels and not data.
        merged_header: Whether row 0 is both the header and the first row of data.
        scale: The scale in the corner cell, or else in the context; 1 without any.
        share_scale: The separate scale of numbers of shares, if any.
    """

    table: Table
    header_rows: int
    transposed: bool
    rows: tuple[TableLine, ...]
    columns: tuple[TableLine, ...]
    sections: tuple[str, ...]
    labelled: bool = True
    merged_header: bool = False
    scale: int = 1
    share_scale: int | None = None
    _figures: dict[str, list[Quantity]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def data_rows(self) -> list[int]:
        """The numbers of the rows of data, without headers and section headings."""
        below = [row for row in range(self.header_rows, len(self.rows)) if not self.is_section(row)]
        return [0, *below] if self.merged_header else below

    def is_section(self, row: int) -> bool:
        """Whether a row is a section heading."""
        return row >= self.header_rows and is_section(self.table[row])

    def figures(self, row: int, column: int) -> list[Quantity]:
        """The figures of a cell by its own text; a dash among figures is zero."""
        cell = self.table[row][column]
        if cell not in self._figures:
            self._figures[cell] = find_quantities(cell)
        if row >= self.header_rows and ZERO.fullmatch(cell) and column in self._figure_columns:
            return [_zero(cell)]
        return self._figures[cell]

    @cached_property
    def _figure_columns(self) -> frozenset[int]:
        """The columns that hold figures, and words in less than half of their cells."""
        found = set()
        for column in range(1, len(self.columns)):
            cells = [cell for line in self.table[self.header_rows :] if (cell := line[column].strip())]
            data = sum(map(is_data, cells))
            words = sum(not is_data(cell) and not ZERO.fullmatch(cell) for cell in cells)
            if data > words:
                found.add(column)
        return frozenset(found)

    def is_label(self, row: int, column: int) -> bool:
        """Whether a cell is a header or a row's label, not data."""
        if self.merged_header and row == 0 and column > 0:
            return False
        return row < self.header_rows or (column == 0 and self.labelled)

    def is_date_cell(self, row: int, column: int, figure: Quantity) -> bool:
        """Whether a figure is a part of a date or word, or overlong."""
        cell = self.table[row][column]
        if figure.is_overlong:
            return True
        if any(date.start < figure.end and figure.start < date.end for date in self._dates(cell)):
            return not re.fullmatch(YEAR, cell.strip())
        after = cell[figure.end : figure.end + 1] if cell[figure.end :].strip(" )") != "p" else ""  # pence
        return cell[figure.start - 1 : figure.start].isalpha() or (after.isalpha() and figure.unit != "ratio")

    def _dates(self, cell: str) -> list[Date]:
        may_hold = "/" in cell or (len(cell) > 3 and not DATA.fullmatch(cell))
        return find_dates(cell) if may_hold else []

    def unit(self, row: int, column: int, quantity: Quantity) -> Unit:
        """The unit of a figure: its own, else its row's, its column's, or the nearest cell's above or below."""
        lines = (self.rows[row], self.columns[column])
        if quantity.unit == "currency" and any(line.unit == "per-share" for line in lines):
            return "per-share"
        if quantity.unit != "plain" or self.is_label(row, column):
            return quantity.unit
        for line in lines:
            if line.unit is not None:
                return line.unit
        inherited = self._inherited[row][column]
        if inherited == "percent" and abs(quantity.value) > _MOST_PERCENT:
            inherited = "currency" if "currency" in self._written[column] else None
        return inherited or "plain"

    def _units(self, row: int, column: int) -> set[Unit]:
        """The units in a cell's text; ``$ -`` is an amount of money without a figure."""
        if NO_AMOUNT.fullmatch(self.table[row][column]):
            return {"currency"}
        return {figure.unit for figure in self.figures(row, column)}

    @cached_property
    def _written(self) -> list[frozenset[Unit]]:
        """The units in the text of each column's cells."""
        below = range(self.header_rows, len(self.rows))
        return [
            frozenset(unit for row in below for unit in self._units(row, column)) for column in range(len(self.columns))
        ]

    @cached_property
    def _inherited(self) -> list[list[Unit | None]]:
        """For each cell the nearest unit in its column above it, or else below it."""
        own: list[list[Unit | None]] = [[None] * len(self.columns) for _ in self.rows]
        for column in range(1, len(self.columns)):
            above: Unit | None = None
            waiting: list[int] = []
            for row in range(self.header_rows, len(self.rows)):
                units = self._units(row, column) - {"plain"}
                if len(units) == 1 and self.rows[row].unit is None:
                    above = units.pop()
                    for earlier in waiting:
                        own[earlier][column] = above
                    waiting = []
                own[row][column] = above
                if above is None:
                    waiting.append(row)
        return own

    def scale_of(self, row: int, column: int, quantity: Quantity, unit: Unit) -> int:
        """The scale of a figure: its own, else its row's, its column's or the table's; 1 for units such as percent."""
        if quantity.scale != 1 or unit not in _SCALED or self.is_label(row, column):
            return quantity.scale
        lines = (self.rows[row], self.columns[column])
        for line in lines:
            if line.scale is not None:
                return line.scale
        if any(line.unit == "plain" for line in lines):  # "in millions" refers to money
            return 1
        return self.share_scale if unit == "shares" and self.share_scale is not None else self.scale


def analyse_table(table: Table, context: Sequence[str] = ()) -> TableLayout:
    """Finds the layout of a table.

    Args:
        table: Rows of equal length; may be empty.
        context: Sentences near the table, nearest first, which may state "in millions".
    """
    if not table or not table[0]:
        return TableLayout(table, 0, False, tuple(_line("", None) for _ in table), (), ("",) * len(table))
    table = english_table(table)
    header_rows = count_header_rows(table)
    labels = [header_label(table[:header_rows], column) for column in range(len(table[0]))]
    merged = header_rows == 1 and is_merged_header(table)
    if merged:
        labels = [labels[0], *(TRAILING.sub("", label).strip() for label in labels[1:])]
    labelled = is_labelled(table, header_rows, labels[0])
    periods = column_periods(labels, 1 if labelled else 0)
    row_dates = [find_dates(row[0]) for row in table]
    transposed = is_transposed(table, header_rows, periods, row_dates)
    columns = tuple(_line(label, period) for label, period in zip(labels, periods, strict=True))
    sections = section_headings(table, header_rows, labels[0] if is_date_alone(labels[0]) and not any(periods) else "")
    row_periods = [period_of(row[0], dates) for row, dates in zip(table, row_dates, strict=True)]
    if not transposed and not any(periods):
        row_periods = roll_forward(table, row_periods, sections)
    rows = tuple(_line(row[0] if labelled else "", period) for row, period in zip(table, row_periods, strict=True))
    scale, share_scale = _table_scale(labels[0], context)
    return TableLayout(table, header_rows, transposed, rows, columns, sections, labelled, merged, scale, share_scale)


def _zero(cell: str) -> Quantity:
    """The figure of a dash."""
    unit: Unit = "percent" if "%" in cell else "currency" if any(sign in cell for sign in "$€£¥") else "plain"
    return Quantity(Decimal(0), unit, 1, "0%" if unit == "percent" else "0", 0, len(cell))


def _line(label: str, period: str | None) -> TableLine:
    unit = next((unit for unit, pattern in _LABEL_UNITS if pattern.search(label)), None)
    scale = SCALE.search(label)
    return TableLine(label, period, unit, SCALES[scale[1].lower()] if scale else None)


def _table_scale(corner: str, context: Sequence[str]) -> tuple[int, int | None]:
    for text in (corner, *context):
        match = (SCALE if text is corner else _CAPTION_SCALE).search(text)
        if match is None:
            continue
        scale = SCALES[match[1].lower()]
        apart = re.search(r"shares in (thousand|million|billion)s", text, re.IGNORECASE)
        if apart is not None:
            return scale, SCALES[apart[1].lower()]
        return scale, 1 if re.search(r"except (?:for )?(?:\w+ ){0,3}shares?\b", text, re.IGNORECASE) else None
    return 1, None
