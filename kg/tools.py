"""Tools for agents over stored graphs: plain typed functions, ready for ``dspy.Tool``.

    >>> tools = GraphTools(store, ontology, report="JKHY/2009/page_28.pdf")
    >>> tools.query_kg("CashFlow", {"year": "2009"}, "net_cash_from_operating_activities")
    [Figure(entity='CashFlow_2009', property='net_cash_from_operating_activities', value=Decimal('206588'), ...)]

A name is taken if it is exactly one that the graph has: a class, an instance, a line item by its name or by a label
that the ontology gives it, a year. Any other is refused with the nearest names; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, get_args

from kg.arithmetic import calculate
from kg.classes import DISCLOSURE
from kg.errors import QueryError
from kg.names import nearest
from kg.observation import CellSource, SentenceSource, Source
from kg.ontology import Ontology
from kg.rdf import quoted, report_base, report_id
from kg.stores import GraphStore
from kg.vocabulary import KG, PREFIXES

Action = Literal["list_types", "get_properties"]
FILTERS = ("year", "entity", "section", "column", "row")
_MOST = 200
_PREFIXES = "".join(f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in PREFIXES.items())
_OPTIONAL = (
    ("writtenAs", "kg:writtenAs"),
    ("scale", "sdmx-attribute:unitMult"),
    ("year", "sdmx-dimension:refPeriod"),
    ("section", "kg:section"),
    ("column", "kg:columnLabel"),
)


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
        if report is not None and not store.has(report):
            raise QueryError(f"report {report!r} is not stored; {nearest(report, store.reports())}")
        self._store = store
        self._ontology = ontology
        self._graph = "?g" if report is None else f"<{report_base(report)}>"
        self._report = report
        self._listed: dict[str, list[str]] = {}

    def functions(self) -> list[Callable[..., Any]]:
        """The four tools, with the names, types and docstrings that an agent is told."""
        return [self.introspect_ontology, self.list_entities, self.query_kg, calculate]

    def introspect_ontology(self, action: Action, entity_type: str | None = None) -> list[str]:
        """Lists the entity types (list_types), or the properties of an entity type (get_properties)."""
        if action == "list_types":
            return self._types()
        if action == "get_properties":
            if entity_type is None:
                raise QueryError(f"get_properties needs an entity_type; {nearest('', self._types())}")
            return self._properties(self._type(entity_type))
        raise QueryError(f"there is no action {action!r}; {nearest(str(action), get_args(Action))}")

    def list_entities(self, entity_type: str) -> list[str]:
        """Lists the instances of an entity type, such as CashFlow_2009."""
        return self._entities(self._type(entity_type))

    def query_kg(
        self,
        entity_type: str,
        filters: Mapping[str, str] | None = None,
        property: str | None = None,  # noqa: A002 - what an agent calls it
    ) -> list[Figure]:
        """Finds figures of an entity type: of one property, or of all of them.

        filters may hold year, entity, section, column and row, each with the exact value it must have.
        """
        kind = self._type(entity_type)
        wanted = dict(filters or {})
        for name in wanted:
            if name not in FILTERS:
                raise QueryError(f"there is no filter {name!r}; {nearest(name, FILTERS)}")
        item = None if property is None else self._property(kind, property)
        found = self._figures(kind, item, wanted)
        if not found:
            self._explain_nothing(kind, item, wanted)
        return found

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
            rows = self._store.select(_PREFIXES + query)
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

    def _figures(self, kind: str, item: str | None, filters: Mapping[str, str]) -> list[Figure]:
        names = ["g", "e", "o", "p", "v", "u", "label", "s", *(name for name, _ in _OPTIONAL)]
        names += ["start", "end", "rowNumber", "columnNumber", "sentence"]
        lines = [self._item_pattern(item), "?o kg:describes ?e .", f"?e a <{KG[kind]}> ."]
        lines += self._filter_patterns(filters)
        lines.append("?o kg:lineItem ?p ; sdmx-measure:obsValue ?v ; sdmx-attribute:unitMeasure ?u ;")
        lines.append(f"   kg:rowLabel ?label ; prov:wasDerivedFrom ?s {_NOT_HEADER}")
        lines.append("?s oa:start ?start ; oa:end ?end .")
        lines += [f"OPTIONAL {{ ?o {term} ?{name} }}" for name, term in _OPTIONAL]
        lines += [
            "OPTIONAL { ?s kg:row ?rowNumber ; kg:column ?columnNumber }",
            "OPTIONAL { ?s kg:sentence ?sentence }",
        ]
        body = "\n".join(line for line in lines if line)
        scope = f"VALUES ?g {{ {self._graph} }}" if self._report is not None else ""
        variables = " ".join("?" + name for name in names)
        query = f"{_PREFIXES}SELECT {variables} WHERE {{ {scope} GRAPH ?g {{\n{body}\n}} }} LIMIT {_MOST}"
        rows = [dict(zip(names, row, strict=True)) for row in self._store.select(query)]
        return sorted(map(_figure, rows), key=lambda figure: (figure.report, _place(figure.source)))

    def _item_pattern(self, item: str | None) -> str:
        if item is None:
            return ""
        if item in self._ontology.properties:
            return f"?o kg:lineItem <{KG[item]}> ."
        return f"?o kg:lineItem <{report_base(str(self._report))}/items#{item}> ."

    def _filter_patterns(self, filters: Mapping[str, str]) -> list[str]:
        patterns = {"year": "sdmx-dimension:refPeriod", "section": "kg:section", "column": "kg:columnLabel"}
        patterns["row"] = "kg:rowLabel"
        found = [f"?o {patterns[name]} {quoted(str(value))} ." for name, value in filters.items() if name in patterns]
        if "entity" in filters:
            found.append(f"FILTER(STRENDS(STR(?e), {quoted('#' + filters['entity'].removeprefix('kg:'))}))")
        return found

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


_NOT_HEADER = ". FILTER NOT EXISTS { ?o kg:role kg:header }"


def _place(source: Source) -> tuple[int, int, int, int]:
    if isinstance(source, CellSource):
        return (0, source.row, source.column, source.start)
    return (1, source.sentence, source.start, 0)


def _figure(row: Mapping[str, Any]) -> Figure:
    written = row["writtenAs"]
    text = str(row["v"] if written is None else written)
    start, end = int(row["start"]), int(row["end"])
    source: Source
    if row["rowNumber"] is not None:
        source = CellSource(int(row["rowNumber"]), int(row["columnNumber"]), start, end)
    else:
        source = SentenceSource(int(row["sentence"]), start, end)
    return Figure(
        entity=str(row["e"]).rpartition("#")[2],
        property=str(row["p"]).rpartition("#")[2],
        value=Decimal(text.removesuffix("%")),
        text=text,
        unit=str(row["u"]).rpartition("#")[2],
        scale=10 ** int(row["scale"] or 0),
        year=None if row["year"] is None else str(row["year"]),
        label=str(row["label"]),
        report=report_id(str(row["g"])),
        source=source,
    )
