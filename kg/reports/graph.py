"""The report graph (ABox): the figures of a report's tables and text as observations, also in a frozen RDF graph.

    >>> from kg.reports.learning import build_ontology
    >>> report = Report("a", ("cash was $ 5 million in 2009 .",), (("", "2009"), ("net income", "$ 7")), ())
    >>> graph = build_report_graph(report, build_ontology([report]))
    >>> [observation.path for observation in graph.observations if not observation.in_header]
    ['IncomeStatement_2009 -> net_income -> 7', 'Disclosure_2009 -> cash_was_in -> 5']
    >>> graph.coverage
    1.0

An **instance** is a class and a period (``CashFlow_2009``). If columns share a period or have none, the rest of the
column's label is added (``StockOption_2009_shares``). In a transposed table the rows replace the columns.
**Line items** outside the ontology become the report's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from rdflib import Graph

from kg.graphs import frozen_graph, graph_sha256, slug, turtle
from kg.reports.headers import base_label
from kg.reports.labels import DISCLOSURE, line_item_key
from kg.reports.layout import TableLayout, analyse_table
from kg.reports.observation import CellSource, Observation, SentenceSource
from kg.reports.ontology import Ontology, table_context
from kg.reports.report import CellFact, Report
from kg.reports.sentences import FigureMention, read_sentence
from kg.reports.triples import (
    document_order,
    observation_triples,
    report_base,
    storable_text,
)
from kg.text import Quantity, english_sentence

GENERAL_ITEM = "reported_figure"
_NEAR, _LONGEST_ITEM = 7, 5


@dataclass(frozen=True, repr=False)
class ReportGraph:
    """A report as a frozen graph.

    Attributes:
        report: The report.
        observations: Its figures, in document order.
        rows: The number of line items in its tables.
        unmapped: The labels of the line items outside the ontology.
    """

    report: Report
    observations: tuple[Observation, ...]
    rows: int
    unmapped: tuple[str, ...]

    def __repr__(self) -> str:
        size = f"{len(self.observations)} figures, {len(self.graph)} triples, coverage {self.coverage:.0%}"
        return f"<ReportGraph {self.report.id}: {size}>"

    @property
    def coverage(self) -> float:
        """The share of line items that the ontology covers, in [0, 1]; 1 without line items."""
        return 1 - len(self.unmapped) / self.rows if self.rows else 1.0

    @cached_property
    def graph(self) -> Graph:
        """Its triples as a frozen graph: a write raises ``FrozenError``; made when it is first used."""
        triples = observation_triples(self.report.id, self.observations)
        owner = f"the graph of report {self.report.id!r}"
        return frozen_graph(triples, owner=owner, identifier=report_base(self.report.id))

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of its triples."""
        return graph_sha256(self.graph)

    def to_turtle(self) -> str:
        """Its triples as Turtle; equal graphs give equal text."""
        return turtle(self.graph)


def build_report_graph(report: Report, ontology: Ontology) -> ReportGraph:
    """Builds the graph of a report.

    Args:
        report: The report; its table and text may be empty.
        ontology: The ontology.
    """
    tables = _layouts(report)
    labels = _line_item_labels(tables)
    missing = tuple(label for label in labels if ontology.property_for(label) is None)
    observations = [*_tables_observations(report, tables, ontology), *_text_observations(report, ontology)]
    ordered = sorted(map(_storable, observations), key=lambda one: document_order(one.source))
    return ReportGraph(report, tuple(ordered), len(labels), missing)


def _storable(observation: Observation) -> Observation:
    """An observation in texts that RDF allows, unlike JSON: without halves of characters."""
    label, column_label, section = observation.label, observation.column_label, observation.section
    if label.isascii() and column_label.isascii() and section.isascii():
        return observation
    return replace(
        observation,
        label=storable_text(label),
        column_label=storable_text(column_label),
        section=storable_text(section),
    )


Table = tuple[int, Report, TableLayout]
"""A table of a report: its first row, the table as a separate report, and its layout."""


def _layouts(report: Report) -> list[Table]:
    return [(start, part, analyse_table(part.table, table_context(part))) for start, part in report.tables]


def _line_item_labels(tables: Iterable[Table]) -> list[str]:
    """The labels with words of the data rows, or of the columns of a transposed table."""
    labels: dict[str, None] = {}
    for _, _, layout in tables:
        lines = layout.columns[1:] if layout.transposed else [layout.rows[row] for row in layout.data_rows]
        labels.update(dict.fromkeys(line.label for line in lines if line_item_key(line.label)))
    return list(labels)


def _tables_observations(report: Report, tables: Iterable[Table], ontology: Ontology) -> Iterator[Observation]:
    """The figures of all tables, with rows of the report's whole table."""
    for start, part, layout in tables:
        for observation in _table_observations(part, layout, ontology):
            source = observation.source
            if isinstance(source, CellSource) and (start or report.kept_rows is not None):
                row, column = report.place_of(start, source.row, source.column)
                number = observation.id.partition("n")[1:]
                name = "".join((f"r{row}c{column}", *number))
                yield replace(observation, id=name, source=replace(source, row=row, column=column))
            else:
                yield observation


def _table_observations(report: Report, layout: TableLayout, ontology: Ontology) -> Iterator[Observation]:
    if not layout.columns:
        return
    kind = ontology.class_for(report)
    names = _instance_names(layout, kind)
    facts = {(fact.row, fact.column): fact for fact in report.facts}
    for row in range(len(layout.rows)):
        for column in range(len(layout.columns)):
            for number, figure in enumerate(layout.figures(row, column)):
                found = _cell_observation(layout, ontology, kind, names, row, column, number, figure)
                fact = facts.get((row, column))
                yield found if fact is None or number or found.in_header else _as_stated(found, fact)


def _cell_observation(
    layout: TableLayout,
    ontology: Ontology,
    kind: str,
    names: list[str],
    row: int,
    column: int,
    number: int,
    figure: Quantity,
) -> Observation:
    item, other = layout.rows[row], layout.columns[column]
    if layout.transposed:
        item, other = other, item
    label = item.label or other.label
    name, mapped = _property(label, ontology)
    unit = layout.unit(row, column, figure)
    return Observation(
        id=f"r{row}c{column}" + (f"n{number}" if number else ""),
        entity=_instance(layout, kind, names, row, column),
        entity_type=kind,
        property=name,
        label=label,
        column_label=other.label,
        section=layout.sections[row],
        period=other.period or item.period,
        quantity=replace(figure, unit=unit, scale=layout.scale_of(row, column, figure, unit)),
        source=CellSource(row, column, figure.start, figure.end),
        mapped=mapped,
        in_header=layout.is_label(row, column) or layout.is_date_cell(row, column, figure),
    )


def _as_stated(observation: Observation, fact: CellFact) -> Observation:
    """An observation with the period, unit and scale that the document itself states."""
    quantity = observation.quantity
    unit = fact.unit if fact.unit is not None else quantity.unit
    stated = replace(observation, quantity=replace(quantity, unit=unit, scale=fact.scale))
    if fact.period is None or fact.period == observation.period:
        return stated
    return replace(stated, period=fact.period, entity=f"{observation.entity_type}_{slug(fact.period)}")


def _instance(layout: TableLayout, kind: str, names: list[str], row: int, column: int) -> str:
    """The instance of a cell: its column's, unless only its row has a period."""
    if layout.transposed:
        return names[row]
    period, other = layout.rows[row].period, layout.columns[column]
    if period is None or other.period is not None or row < layout.header_rows:
        return names[column]
    apart = f"_{slug(other.label, f'column_{column}')}" if len(layout.columns) > 2 else ""
    return f"{kind}_{slug(period)}{apart}"


def _property(label: str, ontology: Ontology) -> tuple[str, bool]:
    name = ontology.property_for(label)
    return (name, True) if name is not None else (slug(label, GENERAL_ITEM), False)


def _instance_names(layout: TableLayout, kind: str) -> list[str]:
    """The name of each column's instance, or of each row's in a transposed table."""
    lines = layout.rows if layout.transposed else layout.columns
    shared = Counter(line.period for line in lines[1 if layout.labelled and not layout.transposed else 0 :])
    names: list[str] = []
    for place, line in enumerate(lines):
        if place == 0 and layout.labelled and not layout.transposed:
            names.append(kind)  # of the column of labels
            continue
        rest = base_label(line.label) if line.period is not None else line.label
        parts = [kind]
        if line.period is not None:
            parts.append(slug(line.period))
        if line.period is None or shared[line.period] > 1:
            parts.append(slug(rest, slug(line.label, f"column_{place}" if not layout.transposed else f"row_{place}")))
        name = "_".join(parts)
        names.append(name if name not in names else f"{name}_{place}")
    return names


def _text_property(mention: FigureMention, ontology: Ontology) -> tuple[str, bool]:
    """The longest line item of two words or more before a figure, or else after it."""
    for words in (mention.before[-_NEAR:], mention.after[:_NEAR]):
        for length in range(min(len(words), _LONGEST_ITEM), 1, -1):
            for start in range(len(words) - length, -1, -1):
                phrase = " ".join(words[start : start + length])
                name = ontology.property_for(phrase)
                if name is not None and " " in line_item_key(phrase):
                    return name, True
    return slug(mention.label, GENERAL_ITEM), False


def _text_observations(report: Report, ontology: Ontology) -> Iterator[Observation]:
    for place, sentence in enumerate(report.sentences):
        for number, mention in enumerate(read_sentence(english_sentence(sentence))):
            name, mapped = _text_property(mention, ontology)
            yield Observation(
                id=f"s{place}n{number}",
                entity=DISCLOSURE if mention.period is None else f"{DISCLOSURE}_{mention.period}",
                entity_type=DISCLOSURE,
                property=name,
                label=mention.label,
                column_label="",
                section="",
                period=mention.period,
                quantity=mention.quantity,
                source=SentenceSource(place, mention.quantity.start, mention.quantity.end),
                mapped=mapped,
                in_header=mention.is_date,
            )
