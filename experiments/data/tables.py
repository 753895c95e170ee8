"""Reads the tables and sentences of one file, each cell and sentence with its place.

>>> content = READERS[".csv"](Path("income.csv"))
>>> content.tables[0].rows[1][1]
RawCell(text='4120', place=Place(file='income.csv', line=2, sheet='', cell='B2'))

Cells have the text that a reader of the file sees: a percentage that Excel stores as 0.123 is ``12.3%``.
"""

from __future__ import annotations

import csv
import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from kg.errors import ConfigError, DataError

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"“(])")

MOST_ABOVE = 3
"""Paragraphs above a table in which its scale may be stated."""


@dataclass(frozen=True)
class Place:
    """The place of a table, a cell or a sentence in a file.

    Attributes:
        file: The file's name.
        line: Its line, from 1; 0 where the file has none.
        sheet: The sheet of a workbook, or the number of a table on a page.
        cell: The cell as spreadsheets name it, such as ``B3``.
    """

    file: str
    line: int = 0
    sheet: str = ""
    cell: str = ""

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        cell = f"cell {self.cell}" if self.cell else ""
        return ", ".join(part for part in (self.file, self.sheet, line, cell) if part)


@dataclass(frozen=True)
class RawCell:
    """A cell's text and place."""

    text: str
    place: Place


@dataclass(frozen=True)
class Sentence:
    """A sentence and its place."""

    text: str
    place: Place


@dataclass(frozen=True)
class RawTable:
    """A possible table, as read.

    Attributes:
        place: Where it begins.
        rows: Its cells; rows may differ in length.
        context: Its title: a sheet's name, a caption.
    """

    place: Place
    rows: tuple[tuple[RawCell, ...], ...]
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class Content:
    """The tables and sentences of a file."""

    tables: tuple[RawTable, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    problems: tuple[str, ...] = ()


def cell_name(row: int, column: int) -> str:
    """A cell as spreadsheets name it; both count from 0."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row + 1}"


def read_csv(path: Path) -> Content:
    """Values separated by commas, semicolons, tabs or bars, as the file itself shows."""
    text = _text(path)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(text)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    rows: list[tuple[RawCell, ...]] = []
    begun = 1
    try:
        for number, row in enumerate(reader):
            rows.append(
                tuple(
                    RawCell(_clean(cell), Place(path.name, begun, cell=cell_name(number, column)))
                    for column, cell in enumerate(row)
                )
            )
            begun = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"cannot be read as a table: {error}", file=str(path), place=f"line {begun}") from error
    return Content((RawTable(Place(path.name, 1), tuple(rows)),)) if rows else Content()


def _delimiter(text: str) -> str:
    """The mark that cuts most lines into the same number of cells, of at least two."""
    lines = [line for line in text.splitlines()[:50] if line.strip()]

    def regular(mark: str) -> tuple[int, int]:
        widths = [len(next(csv.reader([line], delimiter=mark), [])) for line in lines]
        common = max(set(widths), key=widths.count, default=1)
        return (widths.count(common) if common > 1 else 0, common)

    return max((",", ";", "\t", "|"), key=regular)


def read_excel(path: Path) -> Content:
    """Every sheet of a workbook, its cells as they are shown."""
    openpyxl = _library("openpyxl", path)
    try:
        book = openpyxl.load_workbook(path, data_only=True)
        formulas = openpyxl.load_workbook(path)
    except Exception as error:  # openpyxl raises whatever the archive or its XML raise
        raise DataError(f"cannot be read as an Excel workbook: {error}", file=str(path)) from error
    tables: list[RawTable] = []
    problems: list[str] = []
    for sheet in book.worksheets:
        named = f'sheet "{sheet.title}"'
        rows: list[tuple[RawCell, ...]] = []
        for number, row in enumerate(sheet.iter_rows()):
            cells = []
            for column, cell in enumerate(row):
                place = Place(path.name, 0, named, cell_name(number, column))
                if cell.value is None and formulas[sheet.title].cell(number + 1, column + 1).data_type == "f":
                    problems.append(f"{place}: holds a formula without its result; open and save the file in Excel")
                cells.append(RawCell(_shown(cell), place))
            rows.append(tuple(cells))
        if any(cell.text for row in rows for cell in row):
            tables.append(RawTable(Place(path.name, 0, named), tuple(rows), (str(sheet.title),)))
    return Content(tuple(tables), (), tuple(problems))


def _shown(cell: Any) -> str:
    """A cell's value as Excel shows it, as far as its meaning goes: percent, currency, dates, digits."""
    value, style = cell.value, str(cell.number_format or "General")
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return _clean(str(value))
    if isinstance(value, datetime | date):
        return value.strftime("%B %d, %Y") if value.month != 1 or value.day != 1 else str(value.year)
    if not isinstance(value, int | float | Decimal):
        return _clean(str(value))
    places = re.search(r"0\.(0+)", style.split(";")[0])
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if "%" in style:
        number *= 100
    if places is not None:
        number = round(number, len(places[1]))
    text = format(number if places is not None else number.normalize(), "f")
    currency = next((mark for mark in "$€£¥" if mark in style), "")
    return f"{currency + ' ' if currency else ''}{text}{'%' if '%' in style else ''}"


def read_html(path: Path) -> Content:
    """The tables of a page that hold no other table, and its headings, paragraphs and list items."""
    html = _library("lxml.html", path)
    text = _text(path)
    if not text.strip():
        return Content()
    root = html.fromstring(text)
    tables: list[RawTable] = []
    sentences: list[Sentence] = []
    above: list[str] = []
    heading = ""
    for element in root.iter("table", "p", "li", "h1", "h2", "h3", "h4", "h5", "h6"):
        line = int(element.sourceline or 0)
        if element.tag != "table":
            if next(element.iterancestors("table"), None) is None:
                text = _clean(element.text_content())
                if element.tag in ("p", "li"):
                    above.append(text)
                else:
                    heading, above = text, []
                sentences += _sentences(element.text_content(), Place(path.name, line))
        elif element.find(".//table") is None:
            named = f"table {len(tables) + 1}"
            caption = element.find("caption")
            titles = ("" if caption is None else _clean(caption.text_content()), heading)
            context, above = _context(above, *titles), []
            tables.append(RawTable(Place(path.name, line, named), _html_rows(element, path.name, named), context))
    return Content(tuple(tables), tuple(sentences))


def _html_rows(table: Any, file: str, named: str) -> tuple[tuple[RawCell, ...], ...]:
    """The cells of a table; a cell over several columns or rows fills the first and leaves the others empty."""
    rows: list[tuple[RawCell, ...]] = []
    taken: dict[tuple[int, int], None] = {}
    for number, row in enumerate(table.iter("tr")):
        cells: list[RawCell] = []
        for cell in row.iter("td", "th"):
            while (number, len(cells)) in taken:
                cells.append(_html_cell("", file, named, number, len(cells), 0))
            wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            column = len(cells)
            line = int(cell.sourceline or 0)
            cells.append(_html_cell(_clean(cell.text_content()), file, named, number, column, line))
            cells += [_html_cell("", file, named, number, column + more, line) for more in range(1, wide)]
            taken.update(dict.fromkeys((number + down, column + w) for down in range(1, high) for w in range(wide)))
        rows.append(tuple(cells))
    return tuple(rows)


def _html_cell(text: str, file: str, named: str, row: int, column: int, line: int) -> RawCell:
    return RawCell(text, Place(file, line, named, cell_name(row, column)))


def _span(cell: Any, name: str) -> int:
    text = str(cell.get(name) or "1")
    return min(max(int(text), 1), 100) if text.isdecimal() else 1


def read_markdown(path: Path) -> Content:
    """The pipe tables of a Markdown file, and the sentences around them."""
    library = _library("markdown_it", path)
    tokens = library.MarkdownIt("commonmark").enable("table").parse(_text(path))
    tables: list[RawTable] = []
    sentences: list[Sentence] = []
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
            cells.append(RawCell(_clean(_plain_inline(token)), spot))
        elif token.type == "tr_close":
            rows.append(tuple(cells))
        elif token.type == "table_close":
            inside = False
            tables.append(RawTable(Place(path.name, begun, named), tuple(rows), _context(above, heading)))
            above = []
        elif token.type == "inline":
            text = _plain_inline(token)
            if tokens[place - 1].type == "heading_open":
                heading, above = _clean(text), []
            else:
                above.append(_clean(text))
            sentences += _sentences(text, Place(path.name, line))
    return Content(tuple(tables), tuple(sentences))


def _context(above: Sequence[str], *titles: str) -> tuple[str, ...]:
    """Returns the texts that may state a table's scale, nearest first: the paragraphs above it, then its titles."""
    return (*reversed(above[-MOST_ABOVE:]), *(title for title in titles if title))


def _plain_inline(token: Any) -> str:
    parts = (" " if one.type in ("softbreak", "hardbreak") else one.content for one in token.children or ())
    return "".join(parts) or str(token.content)


def read_text(path: Path) -> Content:
    """The sentences of a plain text; a paragraph ends at an empty line."""
    sentences: list[Sentence] = []
    for line, paragraph in _paragraphs(_text(path)):
        sentences += _sentences(paragraph, Place(path.name, line))
    return Content((), tuple(sentences))


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    begun, lines = 1, list[str]()
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.strip():
            begun = begun if lines else number
            lines.append(line)
        elif lines:
            yield begun, " ".join(lines)
            lines = []


def _sentences(text: str, place: Place) -> list[Sentence]:
    return [Sentence(one, place) for one in _SENTENCE_END.split(_clean(text)) if one]


def _clean(text: str) -> str:
    return " ".join(text.split())


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError("must be UTF-8 text", file=str(path), place=f"line {line}") from error


def _library(name: str, path: Path) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = {"lxml.html": "lxml", "markdown_it": "markdown-it-py"}.get(name, name)
        raise ConfigError(f"{path}: needs {package}, which is not installed: pip install 'finpath[files]'") from error


READERS: Mapping[str, Callable[[Path], Content]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".xlsx": read_excel,
    ".xlsm": read_excel,
    ".html": read_html,
    ".htm": read_html,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".txt": read_text,
}
"""What reads a file, by its ending."""
