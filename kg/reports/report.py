"""A report: the part of a document that a program may see.

It has a table and its text, and no field for a question, a program or an answer::

    Report(
        id="JKHY/2009/page_28.pdf",
        pre_text=("the company 's cash increased to $ 118251 .",),
        table=(("", "2009", "2008"), ("net income", "$ 103102", "$ 104222")),
        post_text=(),
    )
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from kg.errors import DataError
from kg.text import Unit

MOST_CELLS = 300_000
"""Cells that a report's table may have; of a large one, an excerpt is searched (:mod:`kg.reports.excerpts`)."""

MOST_CHARACTERS = 5_000_000
"""Characters of text that a report may have."""


_ID = re.compile(r"(?:Single_|Double_)?(?P<document>.+?)(?:-\d+)?")


def document_of(conversation: str) -> str:
    """The document of a conversation: ``ACME/2020/page_7.pdf`` of ``Single_ACME/2020/page_7.pdf-1``."""
    match = _ID.fullmatch(conversation)
    return match["document"] if match else conversation


@dataclass(frozen=True)
class TablePart:
    """One of several tables in ``Report.table``.

    Attributes:
        start: Its first row.
        context: Its title and notes, nearest first, which may state "in millions".
    """

    start: int
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellFact:
    """The statement of a document about the figure of a cell; it wins over the layout.

    Attributes:
        row: The cell's row.
        column: Its column.
        period: The fiscal year, or ``None`` where none is stated.
        unit: The unit, or ``None``.
        scale: The factor from the figure as shown to its value.
    """

    row: int
    column: int
    period: str | None
    unit: Unit | None
    scale: int


@dataclass(frozen=True, repr=False)
class Report:
    """One document.

    Attributes:
        id: A unique name in its data set.
        pre_text: Sentences before the table.
        table: Rows of cells as written, of equal length; row 0 is usually the header.
        post_text: Sentences after the table.
        parts: The tables in the order of their rows; empty for one table.
        facts: The statements of the document about single cells.
        kept_rows: The rows of an excerpt that are there, the others are blank; ``None`` for a whole report.
        kept_columns: Its columns that count.
    """

    id: str
    pre_text: tuple[str, ...]
    table: tuple[tuple[str, ...], ...]
    post_text: tuple[str, ...]
    parts: tuple[TablePart, ...] = ()
    facts: tuple[CellFact, ...] = ()
    kept_rows: tuple[int, ...] | None = None
    kept_columns: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"Report({self.id!r}, {len(self.table)} rows, {len(self.sentences)} sentences)"

    def __post_init__(self) -> None:
        characters = sum(map(len, (*self.pre_text, *self.post_text)))
        check_size(len(self.table) * len(self.table[0]) if self.table else 0, characters, f"report {self.id!r}")
        for number, row in enumerate(self.table):
            if len(row) != len(self.table[0]):
                raise DataError(
                    f"table row {number} has {len(row)} cells, row 0 has {len(self.table[0])}",
                    place=f"report {self.id!r}",
                )

    @property
    def tables(self) -> tuple[tuple[int, Report], ...]:
        """The first row of each table, and the table as a separate report; of an excerpt, without blank rows."""
        if not self.parts and self.kept_rows is None:
            return ((0, self),)
        parts = self.parts or (TablePart(0, ()),)
        ends = [*(part.start for part in parts[1:]), len(self.table)]
        found = [(part.start, self._part(part, end)) for part, end in zip(parts, ends, strict=True)]
        return tuple((start, one) for start, one in found if one.table or self.kept_rows is None)

    def place_of(self, start: int, row: int, column: int) -> tuple[int, int]:
        """The place in the report of a cell of the table that begins at ``start``."""
        if self.kept_rows is None:
            return start + row, column
        return self.kept_rows[bisect_left(self.kept_rows, start) + row], self.kept_columns[column]

    def _part(self, part: TablePart, end: int) -> Report:
        rows: Sequence[int] = range(part.start, end)
        columns: Sequence[int] = range(len(self.table[0])) if self.table else ()
        if self.kept_rows is not None:
            rows = self.kept_rows[bisect_left(self.kept_rows, part.start) : bisect_left(self.kept_rows, end)]
            columns = self.kept_columns
        places = {row: place for place, row in enumerate(rows)}
        across = {column: place for place, column in enumerate(columns)}
        facts = tuple(
            replace(one, row=places[one.row], column=across[one.column])
            for one in self.facts
            if one.row in places and one.column in across
        )
        table = _trimmed(tuple(tuple(self.table[row][column] for column in columns) for row in rows))
        if self.parts:
            return Report(self.id, part.context[::-1], table, (), facts=facts)
        return Report(self.id, self.pre_text, table, self.post_text, facts=facts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences before and after the table; the index is the sentence's number."""
        return self.pre_text + self.post_text

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Report:
        """Reads ``id``, ``pre_text``, ``table`` and ``post_text`` of a record and ignores other keys.

        Short rows get empty cells at their end. The data's report of problems names such tables (three of 266 training
        conversations have one). A cell without a value (``null``) is empty; a finite number is a cell as it is written.

        Raises:
            DataError: A key is missing, a value has the wrong type, or the report is too large.
        """
        place = f"report {record.get('id', '?')!r}"
        try:
            read = _WrittenReport.model_validate(record)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise DataError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", place=place) from error
        width = max(map(len, read.table), default=0)
        check_size(width * len(read.table), 0, place)
        table = tuple((*row, *[""] * (width - len(row))) for row in read.table)
        return cls(read.id, read.pre_text, table, read.post_text)


def _written(value: Any) -> Any:
    """A finite number as text; what is none stays."""
    return str(value) if type(value) is int or (isinstance(value, float) and isfinite(value)) else value


EncodableText = Annotated[str, AfterValidator(lambda text: text.encode().decode())]
"""A text that holds no half of a pair of characters, which JSON allows."""

_Cell = Annotated[EncodableText, BeforeValidator(lambda cell: "" if cell is None else _written(cell))]


class _WrittenReport(BaseModel):
    """A report in a file."""

    id: Annotated[EncodableText, Field(pattern=r"^[^\x00-\x1f]+$"), BeforeValidator(_written)]
    pre_text: tuple[EncodableText, ...]
    table: list[list[_Cell]]
    post_text: tuple[EncodableText, ...]


def check_size(cells: int, characters: int, place: str | None = None) -> None:
    """Raises DataError where a report has more cells or text than the search can hold in memory."""
    if cells > MOST_CELLS:
        raise DataError(f"the table has {cells} cells; at most {MOST_CELLS} can be searched: split it", place=place)
    if characters > MOST_CHARACTERS:
        rule = f"the text has {characters} characters; at most {MOST_CHARACTERS} can be searched: split it"
        raise DataError(rule, place=place)


def _trimmed(rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Rows without the empty columns at their end."""
    width = max((place + 1 for row in rows for place, cell in enumerate(row) if cell), default=0)
    return tuple(row[:width] for row in rows)
