"""Tables of Parquet files.

>>> read_parquet(Path("facts.parquet")).tables[0].rows[0][0].text
'item'
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from kg.errors import DataError
from kg.readers.content import (
    MOST_UNPACKED,
    Content,
    Place,
    RawCell,
    RawTable,
    cell_name,
    check_cells,
    clean,
    load_library,
)

_BATCH = 64


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
            RawCell(_shown(value, path, names=number == 0), Place(path.name, cell=cell_name(number, column)))
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
