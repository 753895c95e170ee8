"""Tables of Excel workbooks, their cells as Excel shows them, and tables of Parquet files.

>>> read_excel(Path("balance.xlsx")).tables[0].context
('Balance',)
>>> read_parquet(Path("facts.parquet")).tables[0].rows[0][0].text
'item'
"""

from __future__ import annotations

import importlib
import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.parsers import expat

from kg.errors import DataError
from kg.files import UNREADABLE
from kg.readers.content import (
    MOST_CELLS,
    MOST_UNPACKED,
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

_BATCH = 64
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


def read_parquet(path: Path) -> Content:
    """The one table of a file, its names of columns as the header.

    Raises:
        DataError: The file is no Parquet file, or a column holds lists or structures.
    """
    rows: list[list[Any]] = []
    for columns in parquet_batches(path):
        if not rows:
            rows.append(list(columns))
        rows += map(list, zip(*columns.values(), strict=True))
        check_cells(len(rows) * len(columns), path)
    cells = tuple(
        tuple(
            RawCell(_written(value, path, names=number == 0), Place(path.name, cell=cell_name(number, column)))
            for column, value in enumerate(row)
        )
        for number, row in enumerate(rows)
    )
    return Content((RawTable(Place(path.name), cells),))


def parquet_batches(path: Path, most: int = MOST_UNPACKED) -> Iterator[dict[str, list[Any]]]:
    """The columns of a file by name, some rows at a time; the first time without rows.

    A small file can declare a billion rows, or repeat one long text.

    Args:
        path: The file.
        most: The bytes that it may unpack to.

    Raises:
        DataError: The file is no Parquet file, or too large.
    """
    library = load_library("pyarrow.parquet", path)
    unpacked = 0
    try:
        with library.ParquetFile(path) as file:
            yield {str(name): [] for name in file.schema_arrow.names}
            for batch in file.iter_batches(batch_size=_BATCH):
                columns = {
                    str(name): column.to_pylist() for name, column in zip(batch.schema.names, batch, strict=True)
                }
                # Of a text that repeats, the batch has one copy alone.
                texts = sum(len(one) for values in columns.values() for one in values if isinstance(one, str | bytes))
                unpacked += max(batch.nbytes, texts, batch.num_rows * max(batch.num_columns, 1))
                if unpacked > most:
                    raise DataError(f"unpacks to more than {most} bytes", file=str(path))
                yield columns
    except (DataError, GeneratorExit):
        raise
    except Exception as error:  # pyarrow raises its own errors and those of the file system
        raise DataError(f"cannot be read as a Parquet file: {error}", file=str(path)) from error


def _written(value: Any, path: Path, *, names: bool) -> str:
    """A value as text; floats without an exponent."""
    if value is None:
        return ""
    if names or isinstance(value, str | bool):
        return clean(str(value))
    if isinstance(value, int | float | Decimal):
        return format(Decimal(repr(value)) if isinstance(value, float) else Decimal(value), "f").removesuffix(".0")
    if isinstance(value, datetime | date):
        return value.isoformat()[:10]
    raise DataError(f"must hold figures, texts and dates, got {type(value).__name__}", file=str(path))
