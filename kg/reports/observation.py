"""Observations: a report graph's figures as typed records with their sources.

:mod:`kg.reports.triples` writes them as RDF. The search index, the tools and the pages use the
records::

    Observation(
        id="r6c1", entity="CashFlow_2009", entity_type="CashFlow",
        property="net_cash_from_operating_activities", label="net cash from operating activities",
        column_label="year ended june 30 2009", section="", period="2009",
        quantity=Quantity(Decimal("206588"), "currency", 1000, "206588", 0, 8),
        source=CellSource(row=6, column=1, start=0, end=8), mapped=True,
    )
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass

from kg.text import Quantity


@dataclass(frozen=True)
class CellSource:
    """A span of a table cell; rows and columns count from 0, with the header row."""

    row: int
    column: int
    start: int
    end: int

    def __str__(self) -> str:
        return f"row {self.row + 1}, column {self.column + 1}"


@dataclass(frozen=True)
class SentenceSource:
    """A span of a sentence; sentences count from 0 through ``Report.sentences``."""

    sentence: int
    start: int
    end: int

    def __str__(self) -> str:
        return f"sentence {self.sentence + 1}, characters {self.start} to {self.end}"


Source = CellSource | SentenceSource


@dataclass(frozen=True)
class Observation:
    """One figure of a report.

    Attributes:
        id: The unique name in its report's graph: ``r6c1`` for a cell, ``s4n2`` for the third figure of sentence 4.
        entity: The local name of the described instance, such as ``CashFlow_2009``.
        entity_type: The local name of the instance's class.
        property: The local name of the line item, from the ontology or the report.
        label: The label of the row (of the column, in a transposed table), or the words around a figure in a sentence.
        column_label: The other label of a cell, as written; empty for a sentence.
        section: The heading above the row ("assets:"), or empty.
        period: The year or date, as written, or ``None``.
        quantity: The figure.
        source: The source of the figure.
        mapped: Whether the ontology covers the line item.
        in_header: Whether it is in a header row, a row's label or a date, or overlong; questions rarely ask for it.
    """

    id: str
    entity: str
    entity_type: str
    property: str
    label: str
    column_label: str
    section: str
    period: str | None
    quantity: Quantity
    source: Source
    mapped: bool = True
    in_header: bool = False

    @builtins.property
    def path(self) -> str:
        """The path that ends in the figure: ``CashFlow_2009 -> net_cash_from_operating_activities -> 206588``."""
        return f"{self.entity} -> {self.property} -> {self.quantity.text}"
