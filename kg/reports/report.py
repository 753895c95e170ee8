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

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kg.errors import DataError
from kg.text import Unit


@dataclass(frozen=True)
class TablePart:
    """One of several tables in ``Report.table``.

    Attributes:
        start: Its first row.
        context: Its title and notes, which may state "in millions".
    """

    start: int
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellFact:
    """What a document itself states about the figure of a cell; it wins over the layout.

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


@dataclass(frozen=True)
class Report:
    """One document.

    Attributes:
        id: A unique name in its data set.
        pre_text: Sentences before the table.
        table: Rows of cells as written, of equal length; row 0 is usually the header.
        post_text: Sentences after the table.
        parts: The tables in the order of their rows; empty for one table.
        facts: The statements of the document about single cells.
    """

    id: str
    pre_text: tuple[str, ...]
    table: tuple[tuple[str, ...], ...]
    post_text: tuple[str, ...]
    parts: tuple[TablePart, ...] = ()
    facts: tuple[CellFact, ...] = ()

    def __post_init__(self) -> None:
        for number, row in enumerate(self.table):
            if len(row) != len(self.table[0]):
                raise DataError(
                    f"table row {number} has {len(row)} cells, row 0 has {len(self.table[0])}",
                    place=f"report {self.id!r}",
                )

    @property
    def tables(self) -> tuple[tuple[int, Report], ...]:
        """The first row of each table, and the table as a separate report."""
        if not self.parts:
            return ((0, self),)
        ends = [*(part.start for part in self.parts[1:]), len(self.table)]
        return tuple((part.start, self._part(part, end)) for part, end in zip(self.parts, ends, strict=True))

    def _part(self, part: TablePart, end: int) -> Report:
        facts = tuple(replace(one, row=one.row - part.start) for one in self.facts if part.start <= one.row < end)
        return Report(self.id, part.context, _trimmed(self.table[part.start : end]), (), facts=facts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences before and after the table; the index is the sentence's number."""
        return self.pre_text + self.post_text

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Report:
        """Reads ``id``, ``pre_text``, ``table`` and ``post_text`` of a record and ignores other keys.

        Short rows get empty cells at their end. The data's report of problems names such tables (three of 266 training
        conversations have one).

        Raises:
            DataError: A key is missing.
        """
        try:
            width = max((len(row) for row in record["table"]), default=0)
            return cls(
                id=str(record["id"]),
                pre_text=tuple(str(sentence) for sentence in record["pre_text"]),
                table=tuple(tuple(map(str, row)) + ("",) * (width - len(row)) for row in record["table"]),
                post_text=tuple(str(sentence) for sentence in record["post_text"]),
            )
        except KeyError as error:
            raise DataError(f"key {error} is missing", place=f"report {record.get('id', '?')!r}") from error


def _trimmed(rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Rows without the empty columns at their end."""
    width = max((place + 1 for row in rows for place, cell in enumerate(row) if cell), default=0)
    return tuple(row[:width] for row in rows)
