"""Text files: tables of separated values, pipe tables and sentences of Markdown, and those of plain text by its spaces.

>>> read_csv(Path("income.csv")).tables[0].rows[1][0].text
'net sales'
>>> read_plain_text(Path("notes.txt")).sentences[0].text
'We sold 12 ships in 2020.'
"""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from kg.errors import DataError
from kg.readers.content import (
    Content,
    Place,
    PlacedSentence,
    RawCell,
    RawTable,
    cell_name,
    check_cells,
    clean,
    context_of,
    decoded,
    load_library,
    sentences_of,
)
from kg.readers.grid import arrange_cells
from kg.readers.pdf import PageCell, page_blocks, page_content

_CELL = re.compile(r"\S+(?: \S+)*")


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


def read_markdown(path: Path) -> Content:
    """The pipe tables of a Markdown file, and the sentences around them."""
    library = load_library("markdown_it", path)
    text, problems = decoded(path)
    tokens = library.MarkdownIt("commonmark").enable("table").parse(text)
    tables: list[RawTable] = []
    sentences: list[PlacedSentence] = []
    rows: list[tuple[RawCell, ...]] = []
    cells: list[RawCell] = []
    inside, heading, above = False, "", list[str]()
    for place, token in enumerate(tokens):
        line = token.map[0] + 1 if token.map else 0
        named = f"table {len(tables) + 1}"
        if token.type == "table_open":
            inside, rows, begun = True, [], line
        elif token.type == "tr_open":
            cells, row_line = [], line
        elif token.type == "inline" and inside:
            spot = Place(path.name, row_line, named, cell_name(len(rows), len(cells)))
            cells.append(RawCell(clean(_plain_inline(token)), spot))
        elif token.type == "tr_close":
            rows.append(tuple(cells))
        elif token.type == "table_close":
            inside = False
            tables.append(RawTable(Place(path.name, begun, named), arrange_cells(rows), context_of(above, heading)))
            above = []
        elif token.type == "inline":
            paragraph = _plain_inline(token)
            if tokens[place - 1].type == "heading_open":
                heading, above = clean(paragraph), []
            else:
                above.append(clean(paragraph))
            sentences += sentences_of(paragraph, Place(path.name, line))
    return Content(tuple(tables), tuple(sentences), problems)


def _plain_inline(token: Any) -> str:
    parts = (" " if one.type in ("softbreak", "hardbreak") else one.content for one in token.children or ())
    return "".join(parts) or str(token.content)


def read_plain_text(path: Path) -> Content:
    """The tables of a plain text, whose cells have a tab or two spaces between them, and its sentences.

    A paragraph ends at an empty line; lines without letters and digits are rules.
    """
    text, problems = decoded(path)
    lines = [
        [PageCell(cell[0], cell.start(), number, cell.end(), number + 1) for cell in _CELL.finditer(line)]
        for number, line in enumerate(text.replace("\t", "\t ").expandtabs().splitlines(), start=1)
        if any(map(str.isalnum, line))
    ]
    content = page_content(list(page_blocks(lines)), lambda cells: Place(path.name, int(cells[0].top)), len(lines), [])
    return replace(content, problems=problems)
