"""Tables of Excel workbooks, their cells as Excel shows them.

>>> read_excel(Path("balance.xlsx")).tables[0].context
('Balance',)
"""

from __future__ import annotations

import importlib
import re
import zipfile
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.parsers import expat

from kg.errors import DataError
from kg.files import UNREADABLE
from kg.readers.content import (
    MOST_CELLS,
    Content,
    Place,
    RawCell,
    RawTable,
    cell_name,
    check_cells,
    check_unpacked,
    clean,
    load_library,
)
from kg.readers.grid import Extent, arrange

_AREAS = ("mergeCell", "hyperlink")
"""Elements of a sheet for which openpyxl makes every cell of their reference."""


def read_excel(path: Path) -> Content:
    """Every sheet of a workbook, its cells as they are shown."""
    openpyxl = load_library("openpyxl", path)
    check_unpacked(path)
    _check_areas(path)
    try:
        with path.open("rb") as file:  # openpyxl leaves a file open that it cannot read
            book = openpyxl.load_workbook(file, data_only=True)
            formulas = openpyxl.load_workbook(file)
    except Exception as error:  # openpyxl raises whatever the archive or its XML raise
        raise DataError(f"cannot be read as an Excel workbook: {error}", file=str(path)) from error
    tables: list[RawTable] = []
    problems: list[str] = []
    total = 0
    for sheet in book.worksheets:
        named = f'sheet "{sheet.title}"'
        rows: list[list[Extent]] = []
        merged = {(one.min_row, one.min_col): one.max_col for one in sheet.merged_cells.ranges}
        last_row, last_column = _used(sheet)
        total += last_row * last_column
        check_cells(total, path)
        for number, row in enumerate(sheet.iter_rows(max_row=last_row, max_col=last_column) if last_row else ()):
            cells = []
            for column, cell in enumerate(row):
                place = Place(path.name, 0, named, cell_name(number, column))
                formula = formulas[sheet.title]._cells.get((number + 1, column + 1))
                if cell.value is None and formula is not None and formula.data_type == "f":
                    problems.append(f"{place}: holds a formula without its result; open and save the file in Excel")
                end = merged.get((number + 1, column + 1), column + 1)
                cells.append(Extent(RawCell(_shown(cell), place), column, end))
            rows.append(cells)
        if any(one.cell.text for row in rows for one in row):
            table = tuple(map(tuple, arrange(rows)))
            tables.append(RawTable(Place(path.name, 0, named), table, (str(sheet.title),)))
    return Content(tuple(tables), (), tuple(problems))


def _check_areas(path: Path) -> None:
    """Raises DataError where merged cells or links span too many cells, all of which openpyxl would make."""
    total = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal total
        if name.rpartition(" ")[2] in _AREAS:
            total += _area(attributes.get("ref", ""))
            check_cells(total, path)

    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                content = archive.read(member)
                if b"\0" in content[:4] or any(name.encode() in content for name in _AREAS):
                    parser = expat.ParserCreate(namespace_separator=" ")
                    parser.StartElementHandler = start
                    parser.Parse(content, True)
    except (*UNREADABLE, expat.ExpatError):
        return  # openpyxl says what is wrong


def _area(reference: str) -> int:
    """Returns the number of cells of a reference such as ``A1:C3``."""
    cells = importlib.import_module("openpyxl.utils.cell")
    try:
        left, top, right, bottom = cells.range_boundaries(reference)
    except (ValueError, TypeError):
        return 0  # openpyxl refuses it
    if None in (left, top, right, bottom):
        return MOST_CELLS + 1  # whole rows or columns
    return int(max(right - left + 1, 0) * max(bottom - top + 1, 0))


def _used(sheet: Any) -> tuple[int, int]:
    """The last row and column with a value; a sheet may have one blank cell a million rows below the others."""
    used = [
        place
        for place, cell in sheet._cells.items()
        if cell.value is not None and (not isinstance(cell.value, str) or cell.value.strip())
    ]
    return max((row for row, _ in used), default=0), max((column for _, column in used), default=0)


def _shown(cell: Any) -> str:
    """A cell's value as Excel shows it, as far as its meaning goes: percent, currency, dates, digits."""
    value, style = cell.value, str(cell.number_format or "General")
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return clean(str(value))
    if isinstance(value, datetime | date):
        return value.strftime("%B %d, %Y") if value.month != 1 or value.day != 1 else str(value.year)
    if not isinstance(value, int | float | Decimal):
        return clean(str(value))
    places = re.search(r"0\.(0+)", style.split(";")[0])
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    thousands = re.search(r"[0#](,+)(?![,0#])", style.split(";")[0])
    number /= 1000 ** (len(thousands[1]) if thousands is not None else 0)
    if "%" in style:
        number *= 100
    if places is not None:
        number = round(number, len(places[1]))
    text = format(number if places is not None else number.normalize(), "f")
    currency = next((mark for mark in "$€£¥" if mark in style), "")
    return f"{currency + ' ' if currency else ''}{text}{'%' if '%' in style else ''}"
