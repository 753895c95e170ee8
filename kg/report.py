"""A report: the one thing about a document that a program may see.

It has a table and the text around it, and no field that could hold a question, a program or an answer::

    Report(
        id="JKHY/2009/page_28.pdf",
        pre_text=("the company 's cash increased to $ 118251 .",),
        table=(("", "2009", "2008"), ("net income", "$ 103102", "$ 104222")),
        post_text=(),
    )
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kg.errors import DataError


@dataclass(frozen=True)
class Report:
    """One document.

    Attributes:
        id: A name that is unique within its data set.
        pre_text: Sentences before the table.
        table: Rows of cells as written; row 0 is usually the header. Every row has the same length.
        post_text: Sentences after the table.
    """

    id: str
    pre_text: tuple[str, ...]
    table: tuple[tuple[str, ...], ...]
    post_text: tuple[str, ...]

    def __post_init__(self) -> None:
        for number, row in enumerate(self.table):
            if len(row) != len(self.table[0]):
                raise DataError(
                    f"table row {number} has {len(row)} cells, row 0 has {len(self.table[0])}",
                    place=f"report {self.id!r}",
                )

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences before the table, then those after it; a sentence's number is its index here."""
        return self.pre_text + self.post_text

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Report:
        """Takes ``id``, ``pre_text``, ``table`` and ``post_text`` from a record and ignores everything else.

        A row that is shorter than the longest is filled up with empty cells, so that every cell keeps its place; the
        data room names such a table as a problem (three of the 266 training conversations have one).

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
