"""Observations: a report graph's figures as typed records, and where each was read.

A report graph holds them as RDF; ``kg.reports.graph`` writes them there and reads them back, and everything
else (the search index, the tools, the pages that highlight a source) works with the records::

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
from typing import Literal

from kg.text import Quantity


@dataclass(frozen=True)
class CellSource:
    """A span of a table cell; rows and columns count from 0, the header row included."""

    row: int
    column: int
    start: int
    end: int

    def __str__(self) -> str:
        return f"row {self.row}, column {self.column}"


@dataclass(frozen=True)
class SentenceSource:
    """A span of a sentence; sentences count from 0 through ``Report.sentences``."""

    sentence: int
    start: int
    end: int

    def __str__(self) -> str:
        return f"sentence {self.sentence}, characters {self.start} to {self.end}"


Source = CellSource | SentenceSource


@dataclass(frozen=True)
class Observation:
    """One figure of a report.

    Attributes:
        id: Name of the observation within its report's graph, unique: ``r6c1`` for a cell, ``s4n2`` for the third
            figure of sentence 4.
        entity: Local name of the instance it describes, such as ``CashFlow_2009``.
        entity_type: Local name of the instance's class.
        property: Local name of the line item, from the ontology where it covers it.
        label: The words that the figure is about: the row's label (the column's, in a transposed table) or, for a
            sentence, the words around it.
        column_label: The other label of a cell, as written, header rows joined; empty for a sentence.
        section: The heading above the row ("assets:"), or empty.
        period: The year or date it holds for, as written, or ``None``.
        quantity: The figure.
        source: Where it was read.
        mapped: Whether the ontology covers the line item.
        in_header: Whether it was read in a header row, a row's label or a date, or has more than 15 digits: rarely a
            figure that is asked for.
        created_by: ``system`` for what the graph was built with, ``agent`` for what a conversation read from a sentence
            later, which lies in a layer of its own (:mod:`kg.reports.layer`).
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
    created_by: Literal["system", "agent"] = "system"

    @builtins.property
    def path(self) -> str:
        """The path that ends in the figure: ``CashFlow_2009 -> net_cash_from_operating_activities -> 206588``."""
        return f"{self.entity} -> {self.property} -> {self.quantity.text}"
