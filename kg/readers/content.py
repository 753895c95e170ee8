"""Tables, sentences and places of a file, as its reader returns them.

>>> content = read_csv(Path("income.csv"))
>>> content.tables[0].rows[1][1]
RawCell(text='4120', place=Place(file='income.csv', line=2, sheet='', cell='B2'))

Cells have the text that a reader of the file sees: a percentage that Excel stores as 0.123 is ``12.3%``.
"""

from __future__ import annotations

import codecs
import importlib
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.errors import ConfigError, DataError
from kg.files import UNREADABLE
from kg.text import Unit

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"“(])")

MOST_BYTES = 50_000_000
"""Bytes that a file may have."""

MOST_UNPACKED = 200_000_000
"""Bytes that a packed file may unpack to."""

MOST_TAGS = 4_000_000
"""Tags of XML that a packed file may unpack to; an Excel cell has four to eight, and can have one of four bytes."""

_PART = 1 << 20

MOST_CELLS = 300_000
"""Cells of a file that are read, empty ones and spans included."""

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
        page: The page of a PDF file, from 1; 0 where the file has none.
        box: Its left, top, right and bottom on the page, in points.
        concept: The concept of inline XBRL that the file states for the cell.
    """

    file: str
    line: int = 0
    sheet: str = ""
    cell: str = ""
    page: int = 0
    box: tuple[int, int, int, int] | None = None
    concept: str = ""

    def __str__(self) -> str:
        page = f"page {self.page}" if self.page else ""
        line = f"line {self.line}" if self.line else ""
        cell = f"cell {self.cell}" if self.cell else ""
        box = f"box {' '.join(map(str, self.box))}" if self.box else ""
        concept = f"XBRL {self.concept}" if self.concept else ""
        return ", ".join(part for part in (self.file, page, self.sheet, line, cell, box, concept) if part)


@dataclass(frozen=True)
class XbrlFact:
    """The statement of a file about one figure, as inline XBRL makes it.

    Attributes:
        period: The fiscal year, or ``None``.
        unit: The unit, or ``None`` where the file has another one than finpath.
        scale: The factor from the figure as shown to its value.
    """

    period: str | None
    unit: Unit | None
    scale: int


@dataclass(frozen=True)
class RawCell:
    """A cell's text and place, and the fact that the file states about its figure, if any."""

    text: str
    place: Place
    fact: XbrlFact | None = None


@dataclass(frozen=True)
class PlacedSentence:
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
    sentences: tuple[PlacedSentence, ...] = ()
    problems: tuple[str, ...] = ()


def cell_name(row: int, column: int) -> str:
    """A cell as spreadsheets name it; both count from 0."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row + 1}"


def context_of(above: Sequence[str], *titles: str) -> tuple[str, ...]:
    """Returns the texts that may state a table's scale, nearest first: the paragraphs above it, then its titles."""
    return (*reversed(above[-MOST_ABOVE:]), *(title for title in titles if title))


def sentences_of(text: str, place: Place) -> list[PlacedSentence]:
    """The sentences of a paragraph."""
    return [PlacedSentence(one, place) for one in _SENTENCE_END.split(clean(text)) if one]


def clean(text: str) -> str:
    """The text with single spaces."""
    return " ".join(text.split())


def decoded(path: Path) -> tuple[str, tuple[str, ...]]:
    """The text of a file in UTF-8, in UTF-16 with its mark, or else in Windows-1252, and a problem for the last.

    Raises:
        DataError: The file is no text.
    """
    data = path.read_bytes()
    try:
        return data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig"), ()
    except UnicodeDecodeError as error:
        place = "line " + str(data[: error.start].count(b"\n") + 1)
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError:
            text = "\0"
        if _CONTROL.search(text):
            raise DataError("must be text in UTF-8, UTF-16 or Windows-1252", file=str(path), place=place) from error
        return text, (f"{path.name}: {place} is not UTF-8, so the file is read as Windows-1252",)


def check_cells(cells: int, path: str | Path) -> None:
    """Raises DataError where a file has more cells than a report may hold, empty ones and spans included."""
    if cells > MOST_CELLS:
        raise DataError(f"has more than {MOST_CELLS} cells: split it", file=str(path))


def check_unpacked(path: Path) -> None:
    """Raises DataError where a packed file unpacks to too many bytes or tags of XML, before a library unpacks it."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > MOST_UNPACKED:
                raise DataError(f"unpacks to {size} bytes, more than {MOST_UNPACKED}", file=str(path))
            tags = 0
            for member in archive.infolist():
                with archive.open(member) as file:
                    while tags <= MOST_TAGS and (part := file.read(_PART)):
                        tags += part.count(b"<")
    except UNREADABLE:
        return  # the reader of the format says what is wrong
    if tags > MOST_TAGS:
        raise DataError(f"unpacks to more than {MOST_TAGS} tags of XML: split it", file=str(path))


def load_library(name: str, path: Path) -> Any:
    """The module of a library that reads a kind of file.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = {"lxml.html": "lxml", "markdown_it": "markdown-it-py"}.get(name, name)
        raise ConfigError(f"{path}: needs {package}, which is not installed: pip install {package}") from error
