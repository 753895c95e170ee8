"""Tables of text files: values separated by commas, semicolons, tabs or bars.

>>> read_csv(Path("income.csv")).tables[0].rows[1][0].text
'net sales'
"""

from __future__ import annotations

import csv
from pathlib import Path

from kg.errors import DataError
from kg.readers.content import Content, Place, RawCell, RawTable, cell_name, check_cells, clean, decoded
from kg.readers.grid import arrange_cells


def read_csv(path: Path) -> Content:
    """Values separated by commas, semicolons, tabs or bars, as the file itself shows."""
    text, problems = decoded(path)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(text)
    cells = 0
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    rows: list[tuple[RawCell, ...]] = []
    begun = 1
    try:
        for number, row in enumerate(reader):
            cells += len(row)
            check_cells(cells, path)
            rows.append(
                tuple(
                    RawCell(clean(cell), Place(path.name, begun, cell=cell_name(number, column)))
                    for column, cell in enumerate(row)
                )
            )
            begun = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"cannot be read as a table: {error}", file=str(path), place=f"line {begun}") from error
    tables = (RawTable(Place(path.name, 1), arrange_cells(rows)),) if rows else ()
    return Content(tables, problems=problems)


def _delimiter(text: str) -> str:
    """The mark that cuts most lines into the same number of cells, of at least two."""
    lines = [line for line in text.splitlines()[:50] if line.strip()]

    def regular(mark: str) -> tuple[int, int]:
        widths = [_width(line, mark) for line in lines]
        common = max(set(widths), key=widths.count, default=1)
        return (widths.count(common) if common > 1 else 0, common)

    return max((",", ";", "\t", "|"), key=regular)


def _width(line: str, mark: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=mark), []))
    except csv.Error:  # a field of over 131,072 characters; the reading names the line
        return 0
