"""Tools for agents over stored graphs: plain typed functions, ready for ``dspy.Tool``.

    >>> tools = GraphTools.of_report(report_graph, ontology)
    >>> tools.query_kg("CashFlow", {"year": "2009"}, "net_cash_from_operating_activities")
    [Figure(entity='CashFlow_2009', property='net_cash_from_operating_activities', value=Decimal('206588'), ...)]

A name is taken if it is exactly one that the graph has: a class, an instance, a line item by its name or by a label
that the ontology gives it, a year. Any other is refused with the nearest names; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, get_args

from kg.errors import QueryError
from kg.graphs import KG, PREFIXES, GraphStore, MemoryStore, quoted
from kg.reports import (
    DISCLOSURE,
    Observation,
    Ontology,
    ReportGraph,
    ReportStore,
    Source,
    document_order,
    observations_in,
    report_base,
)
from kg.search import calculate
from kg.text import nearest

OntologyAction = Literal["list_types", "get_properties"]
FILTERS = ("year", "entity", "section", "column", "row", "report")
MOST = 100
"""How many figures a query returns at most."""

_PREFIXES = "".join(f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in PREFIXES.items())
_FILTERED = {
    "year": "sdmx-dimension:refPeriod",
    "section": "kg:section",
    "column": "kg:columnLabel",
    "row": "kg:rowLabel",
}


@dataclass(frozen=True)
class Figure:
    """One figure that a query found.

    Attributes:
        entity: The instance that it describes.
        property: The line item.
        value: The figure as written: neither scaled nor divided by 100.
        text: The same in the program language's form; percentages end in ``%``.
        unit: What it counts.
        scale: What one unit of it stands for: 1, 1000, ...
        year: Its period, or ``None``.
        label: The words that it is about.
        report: The report that it is from.
        source: Where it was read.
    """

    entity: str
    property: str
    value: Decimal
    text: str
    unit: str
    scale: int
    year: str | None
    label: str
    report: str
    source: Source


class GraphTools:
    """The tools over one report, or over all that a store holds.

    Args:
        store: Where the graphs are.
        ontology: The frozen ontology.
        report: The report that the tools see; ``None`` for all of them.

    Raises:
        QueryError: The report is not stored.
    """

    def __init__(self, store: GraphStore, ontology: Ontology, report: str | None = None) -> None:
        archive = ReportStore(store)
        if report is not None and not archive.has(report):
            raise QueryError(f"report {report!r} is not stored; {nearest(report, archive.reports())}")
        self._store = store
        self._ontology = ontology
        self._graph = "?g" if report is None else f"<{report_base(report)}>"
        self._report = report
        self._listed: dict[str, list[str]] = {}

    @classmethod
    def of_report(cls, graph: ReportGraph, ontology: Ontology) -> GraphTools:
        """The tools over a report's graph that is stored nowhere else."""
        store = MemoryStore()
        ReportStore(store).put(graph)
        return cls(store, ontology, graph.report.id)

    def functions(self) -> list[Callable[..., Any]]:
        """The four tools, with the names, types and docstrings that an agent is told."""
        return [self.introspect_ontology, self.list_entities, self.query_kg, calculate]

    def introspect_ontology(self, action: OntologyAction, entity_type: str | None = None) -> list[str]:
        """Lists the entity types (list_types), or the properties of an entity type (get_properties)."""
        if action == "list_types":
            return self._types()
        if action == "get_properties":
            if entity_type is None:
                raise QueryError(f"get_properties needs an entity_type; {nearest('', self._types())}")
            return self._properties(self._type(entity_type))
        raise QueryError(f"there is no action {action!r}; {nearest(str(action), get_args(OntologyAction))}")

    def list_entities(self, entity_type: str) -> list[str]:
        """Lists the instances of an entity type, such as CashFlow_2009."""
        return self._entities(self._type(entity_type))

    def query_kg(
        self,
        entity_type: str,
        filters: Mapping[str, str] | None = None,
        property: str | None = None,  # noqa: A002 - what an agent calls it
        limit: int = MOST,
    ) -> list[Figure]:
        """Finds figures of an entity type: of one property, or of all of them; no more than limit (1 to 100).

        filters may hold year, entity, section, column, row and report, each with the exact value it must have.
        """
        if not 1 <= limit <= MOST:
            raise QueryError(f"limit must be from 1 to {MOST}, got {limit}")
        wanted = dict(filters or {})
        for name in wanted:
            if name not in FILTERS:
                raise QueryError(f"there is no filter {name!r}; {nearest(name, FILTERS)}")
        if self._report not in (None, wanted.get("report", self._report)):
            raise QueryError(f"these tools see report {self._report!r} alone, not {wanted['report']!r}")
        found = self._figures_named(entity_type, property, wanted, limit)
        if not found:  # only now is it worth asking the store which names there are
            kind = self._type(entity_type)
            self._explain_nothing(kind, None if property is None else self._property(kind, property), wanted)
        return found

    def _figures_named(
        self, entity_type: str, name: str | None, filters: Mapping[str, str], limit: int
    ) -> list[Figure]:
        """The figures of a property by its name or, by the ontology, its label; none if a name does not exist."""
        kind = entity_type.removeprefix("kg:")
        if not _NAME.fullmatch(kind):
            return []
        if name is None:
            return self._figures(kind, None, filters, limit)
        bare = name.removeprefix("kg:")
        for item in (bare, self._ontology.property_for(bare)):
            exists = item in self._ontology.properties or self._report is not None
            if item is not None and exists and _NAME.fullmatch(item):
                found = self._figures(kind, item, filters, limit)
                if found:
                    return found
        return []

    def _types(self) -> list[str]:
        if self._report is None:
            return sorted(self._ontology.classes)
        query = "SELECT DISTINCT ?t WHERE { GRAPH %s { ?e prov:wasQuotedFrom ?d . ?e a ?t . FILTER(?t NOT IN (%s)) } }"
        return self._list(query % (self._graph, "kg:Cell, kg:Phrase"))

    def _entities(self, kind: str) -> list[str]:
        query = "SELECT DISTINCT ?e WHERE { GRAPH %s { ?e a <%s> . ?o kg:describes ?e %s } }"
        return self._list(query % (self._graph, KG[kind], _NOT_HEADER))

    def _properties(self, kind: str) -> list[str]:
        if self._report is None:
            return sorted(name for name, item in self._ontology.properties.items() if self._fits(kind, item.domain))
        query = "SELECT DISTINCT ?p WHERE { GRAPH %s { ?e a <%s> . ?o kg:describes ?e ; kg:lineItem ?p %s } }"
        return self._list(query % (self._graph, KG[kind], _NOT_HEADER))

    @staticmethod
    def _fits(kind: str, domain: tuple[str, ...]) -> bool:
        return kind in domain or kind == DISCLOSURE

    def _list(self, query: str) -> list[str]:
        """Local names that a query selects, sorted; a frozen report's are remembered."""
        if query not in self._listed:
            rows = self._store.texts(_PREFIXES + query)
            found = sorted({str(row[0]).rpartition("#")[2] for row in rows})
            if self._report is None:
                return found
            self._listed[query] = found
        return self._listed[query]

    def _type(self, name: str) -> str:
        bare = name.removeprefix("kg:")
        if bare not in self._types():
            raise QueryError(f"there is no entity type {name!r}; {nearest(bare, self._types())}")
        return bare

    def _property(self, kind: str, name: str) -> str:
        """The property of that name or, by the ontology, of that label."""
        bare = name.removeprefix("kg:")
        known = self._properties(kind)
        for candidate in (bare, self._ontology.property_for(bare)):
            if candidate in known or (self._report is None and candidate in self._ontology.properties):
                return str(candidate)
        raise QueryError(f"{kind} has no property {name!r}; {nearest(bare, known)}")

    def _figures(self, kind: str, item: str | None, filters: Mapping[str, str], limit: int = MOST) -> list[Figure]:
        """First which observations, then all about them: the store need not join what it can look up."""
        report = filters.get("report", self._report)
        patterns = "\n".join(self._patterns(kind, item, filters, report))
        scope = "?g" if report is None else f"<{report_base(report)}>"
        query = f"{_PREFIXES}SELECT ?o WHERE {{ GRAPH {scope} {{\n{patterns}\n}} }} LIMIT {limit}"
        nodes = [str(row[0]) for row in self._store.texts(query)]
        if not nodes:
            return []
        subjects = " ".join(f"<{node}> <{node}.source>" for node in nodes)
        query = f"SELECT ?s ?p ?v WHERE {{ VALUES ?s {{ {subjects} }} GRAPH {scope} {{ ?s ?p ?v }} }}"
        about = [(str(s), str(p), str(v)) for s, p, v in self._store.texts(query)]
        found = [_figure(observation, report) for report, observation in observations_in(about, kind)]
        return sorted(found, key=lambda figure: (figure.report, document_order(figure.source)))

    def _patterns(self, kind: str, item: str | None, filters: Mapping[str, str], report: str | None) -> Iterator[str]:
        if item in self._ontology.properties:
            yield f"?o kg:lineItem <{KG[str(item)]}> ."
        elif item is not None:
            yield f"?o kg:lineItem <{report_base(str(report))}/items#{item}> ."
        for name, value in filters.items():
            if name in _FILTERED:
                yield f"?o {_FILTERED[name]} {quoted(str(value))} ."
        entity = filters.get("entity", "").removeprefix("kg:")
        if entity and report is not None:
            yield f"FILTER(STR(?e) = {quoted(report_base(report) + '#' + entity)})"
        elif entity:
            yield f"FILTER(STRENDS(STR(?e), {quoted('#' + entity)}))"
        yield f"?o kg:describes ?e . ?e a <{KG[kind]}> {_NOT_HEADER}"

    def _explain_nothing(self, kind: str, item: str | None, filters: Mapping[str, str]) -> None:
        """Says which filter's value does not exist; finding nothing under values that do is a result."""
        for name, value in filters.items():
            others = {key: other for key, other in filters.items() if key != name}
            rest = self._figures(kind, item, others)
            if rest and name in ("year", "entity"):
                known = {str(figure.year if name == "year" else figure.entity) for figure in rest}
                raise QueryError(f"{item or kind} has no {name} {value!r}; {nearest(str(value), known)}")
            if rest:
                raise QueryError(f"{item or kind} has no figure whose {name} is {value!r}")


_NAME = re.compile(r"\w+")
_NOT_HEADER = ". FILTER NOT EXISTS { ?o kg:role kg:header }"


def _figure(observation: Observation, report: str) -> Figure:
    quantity = observation.quantity
    return Figure(
        entity=observation.entity,
        property=observation.property,
        value=quantity.value,
        text=quantity.text,
        unit=quantity.unit,
        scale=quantity.scale,
        year=observation.period,
        label=observation.label,
        report=report,
        source=observation.source,
    )
