"""A user's own report, read from files of tables and text.

    >>> own = read_files(["income.csv", "balance.xlsx", "notes.md"])
    >>> own.report.tables[1][1].table[0]
    ('in millions', '2020', '2019')
    >>> own.describe(CellSource(1, 1, 0, 4))
    'income.csv, line 2, cell B2, row "net sales", column "2020": [4120]'

The report holds the tables one below the other, each with its own header. Every figure has its file, sheet and cell. A
table without figures becomes a problem that names file and line; one column of prose becomes sentences. Files without
any table or text are an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from rdflib import Graph

from kg.errors import DataError, FinpathError
from kg.readers.content import MOST_BYTES, Content, Place, PlacedSentence, RawCell, RawTable, sentences_of
from kg.readers.headers import is_about_scale, is_lone, scale_notes, split_tables
from kg.readers.long_form import pivoted
from kg.reports import CellFact, CellSource, Report, Source, TablePart, build_ontology, build_report_graph

READERS = {
    ".csv": "kg.readers.text_files:read_csv",
    ".tsv": "kg.readers.text_files:read_csv",
    ".xlsx": "kg.readers.table_files:read_excel",
    ".xlsm": "kg.readers.table_files:read_excel",
    ".html": "kg.readers.web_page:read_html",
    ".htm": "kg.readers.web_page:read_html",
    ".md": "kg.readers.text_files:read_markdown",
    ".markdown": "kg.readers.text_files:read_markdown",
    ".parquet": "kg.readers.table_files:read_parquet",
    ".pdf": "kg.readers.pdf:read_pdf",
    ".txt": "kg.readers.text_files:read_plain_text",
}
"""The function that reads a file, ``(path) -> Content``, by its ending, as :func:`pkgutil.resolve_name` takes it."""

_FIGURE = re.compile(r"\d")
_LONGEST = 160
_MALFORMED = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(RecursionError, MemoryError, SyntaxError),
)
"""Errors of the libraries that read a format, for a file that breaks its rules."""


@dataclass(frozen=True)
class OwnReport:
    """A report built from files.

    Attributes:
        report: The report.
        cells: Where each cell of its table was read, row by row; ``None`` for cells that fill a row up. Empty for a
            report of a data set.
        sentences: Where each sentence was read.
        problems: The refused tables, each with its file and line.
    """

    report: Report
    cells: tuple[tuple[Place | None, ...], ...] = field(default=(), repr=False)
    sentences: tuple[Place, ...] = field(default=(), repr=False)
    problems: tuple[str, ...] = field(default=(), compare=False)

    @property
    def tables(self) -> list[Any]:
        """Its tables as data frames of pandas: cells as written, with the header as columns."""
        from pandas import DataFrame

        return [DataFrame(list(part.table[1:]), columns=list(part.table[0])) for _, part in self.report.tables]

    def graph(self) -> Graph:
        """Its figures as a graph of rdflib, with an ontology of its own line items; a copy that may be changed."""
        return Graph() + build_report_graph(self.report, build_ontology([self.report])).graph

    def place(self, source: Source) -> Place | None:
        """The file, sheet and cell, or the line, that a figure was read in."""
        if isinstance(source, CellSource):
            return self.cells[source.row][source.column]
        return self.sentences[source.sentence]

    def describe(self, source: Source) -> str:
        """Returns a figure's place and the text of its cell or sentence, with the figure in brackets; counts from 1."""
        if not isinstance(source, CellSource):
            place = self.place(source) if self.sentences else f"sentence {source.sentence + 1}"
            text = _marked(self.report.sentences[source.sentence], source.start, source.end)
            start = max(0, text.index("[") - 60)
            return f"{place}: {'...' if start else ''}{text[start : start + _LONGEST]}"
        table = self.report.table
        first = max((start for start, _ in self.report.tables if start <= source.row), default=0)
        row, column = table[source.row][0], table[first][source.column]
        text = _marked(table[source.row][source.column], source.start, source.end)
        if self.cells:
            return f'{self.place(source)}, row "{row}", column "{column}": {text}'
        return f'table, row {source.row + 1} "{row}", column {source.column + 1} "{column}": {text}'


def _marked(text: str, start: int, end: int) -> str:
    return f"{text[:start]}[{text[start:end]}]{text[end:]}"


def is_file_list(targets: Sequence[str]) -> bool:
    """Whether the words of a command line are files that :func:`read_files` reads.

    Ids of reports may end in ``.pdf``, so that such a word is a file only where the file exists.
    """
    return bool(targets) and all(map(_is_file, targets))


def _is_file(word: str) -> bool:
    ending = Path(word).suffix.lower()
    return ending in READERS and (ending != ".pdf" or Path(word).exists())


def read_files(paths: Sequence[str | Path]) -> OwnReport:
    """Reads tables and text as one report.

    Args:
        paths: Files ending in one of :data:`READERS`.

    Raises:
        DataError: A file cannot be read or has an ending that is not known, or no file holds a table or text.
        ConfigError: The library that reads a file is not installed.
    """
    tables: list[RawTable] = []
    sentences: list[PlacedSentence] = []
    problems: list[str] = []
    for path in map(Path, paths):
        content = read_content(path)
        sentences += content.sentences
        problems += content.problems
        for table in _split(content.tables):
            kept, notes, problem = _as_table(table)
            sentences += notes
            if problem is not None:
                problems.append(problem)
            elif kept.rows:
                tables.append(kept)
    if not tables and not sentences:
        why = "; ".join(problems) or "they are empty"
        raise DataError(f"hold neither a table nor text: {why}", file=", ".join(map(str, paths)))
    name = ", ".join(Path(path).name for path in paths)
    return _joined(name, tables, sentences, problems)


def read_content(path: Path) -> Content:
    """Returns the tables and sentences of one file; raises as :func:`read_files`."""
    ending = path.suffix.lower()
    if ending not in READERS:
        known = ", ".join(sorted(READERS))
        raise DataError(f"must end in one of {known}", file=str(path))
    if not path.is_file():
        raise DataError("no such file", file=str(path))
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise DataError(f"has {size} bytes, more than {MOST_BYTES}", file=str(path))
        read: Callable[[Path], Content] = resolve_name(READERS[ending])
        return read(path)
    except FinpathError:
        raise
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=str(path)) from error
    except _MALFORMED as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"cannot be read: {type(error).__name__}: {reason}", file=str(path)) from error


def _split(tables: Sequence[RawTable]) -> Iterator[RawTable]:
    """The tables with one header each."""
    for table in tables:
        for rows in split_tables(table.rows):
            yield RawTable(table.place, tuple(map(tuple, rows)), table.context)


def _as_table(table: RawTable) -> tuple[RawTable, list[PlacedSentence], str | None]:
    """The table without its title and notes, these as sentences, and why it is no table, if it is none."""
    rows = [row for row in table.rows if any(cell.text for cell in row)]
    notes: list[PlacedSentence] = []
    titles: list[str] = []
    widest = max((sum(bool(cell.text) for cell in row) for row in rows), default=0)
    while rows and widest > 1 and is_lone(rows[0]) and len(rows) > 1:
        cell = next(cell for cell in rows.pop(0) if cell.text)
        titles.append(cell.text)
        notes.append(PlacedSentence(cell.text, cell.place))
    tail: list[PlacedSentence] = []
    while rows and widest > 1 and is_lone(rows[-1]) and _is_prose(rows[-1]):
        cell = next(cell for cell in rows.pop() if cell.text)
        tail.insert(0, PlacedSentence(cell.text, cell.place))
    problem = None
    try:
        rows = [tuple(row) for row in pivoted(rows) or rows]
    except DataError as error:
        problem = f"{table.place}: {error.rule}"
    labels = [cell.text for cell in rows[0]] if rows else []
    context = sorted((*reversed(titles), *table.context), key=lambda text: not is_about_scale(text))
    kept = RawTable(table.place, tuple(rows), (*scale_notes([*labels, *context]), *context))
    if problem is not None:
        return kept, [*notes, *tail], problem
    if widest == 1 and any(map(_is_prose, rows)):  # a sheet of comments
        cells = [cell for row in rows for cell in row if cell.text]
        return replace(kept, rows=()), [one for cell in cells for one in sentences_of(cell.text, cell.place)], None
    if widest < 2:
        problem = f"{table.place}: is no table: it has {widest} column{'s' * (widest != 1)}, it must have 2"
    elif len(rows) < 2:
        problem = f"{table.place}: is no table: it has {len(rows)} row{'s' * (len(rows) != 1)}, it must have 2"
    elif not any(_FIGURE.search(cell.text) for row in rows[1:] for cell in row[1:]):
        problem = f"{table.place}: is no table of figures: no cell right of the labels holds a number"
    return kept, [*notes, *tail], problem


def _is_prose(row: Sequence[RawCell]) -> bool:
    return any(len(cell.text.split()) > 5 for cell in row)


def _joined(name: str, tables: list[RawTable], sentences: list[PlacedSentence], problems: list[str]) -> OwnReport:
    width = max((len(row) for table in tables for row in table.rows), default=0)
    rows: list[tuple[str, ...]] = []
    cells: list[tuple[Place | None, ...]] = []
    parts: list[TablePart] = []
    facts: list[CellFact] = []
    for table in tables:
        parts.append(TablePart(len(rows), table.context))
        for row in table.rows:
            stated = ((column, cell.fact) for column, cell in enumerate(row) if cell.fact is not None)
            facts += [CellFact(len(rows), column, one.period, one.unit, one.scale) for column, one in stated]
            missing = width - len(row)
            rows.append(tuple(cell.text for cell in row) + ("",) * missing)
            cells.append(tuple(cell.place for cell in row) + (None,) * missing)
    report = Report(name, tuple(one.text for one in sentences), tuple(rows), (), tuple(parts), tuple(facts))
    return OwnReport(report, tuple(cells), tuple(one.place for one in sentences), tuple(problems))
