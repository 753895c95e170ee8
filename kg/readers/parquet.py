"""Tables of Parquet files.

>>> read_parquet(Path("facts.parquet")).tables[0].rows[0][0].text
'item'
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from kg.errors import DataError
from kg.readers.content import Content, Place, RawCell, RawTable, cell_name, clean, load_library


def read_parquet(path: Path) -> Content:
    """The one table of a file, its names of columns as the header.

    Raises:
        DataError: The file is no Parquet file, or a column holds lists or structures.
    """
    library = load_library("pyarrow.parquet", path)
    try:
        table = library.read_table(path)
    except Exception as error:  # pyarrow raises its own errors and those of the file system
        raise DataError(f"cannot be read as a Parquet file: {error}", file=str(path)) from error
    rows = [list(table.column_names), *zip(*(column.to_pylist() for column in table.columns), strict=True)]
    cells = tuple(
        tuple(
            RawCell(_shown(value, path, names=number == 0), Place(path.name, cell=cell_name(number, column)))
            for column, value in enumerate(row)
        )
        for number, row in enumerate(rows)
    )
    return Content((RawTable(Place(path.name), cells),))


def _shown(value: Any, path: Path, *, names: bool) -> str:
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
