"""The ontology (TBox): kinds of statements and notes with their line items, as records and as OWL.

    >>> ontology.property_for("Net revenue ( 1 )"), ontology.property_for("goodwill")
    ('net_revenues', None)

A **property** is a line item of tables. It has its most frequent label, its merged labels (:mod:`kg.reports.labels`),
the classes of its tables, and its unit. A label is looked up by its exact words, not by similarity. As Turtle::

    kg:net_revenue a owl:DatatypeProperty ; rdfs:label "net revenue" ; skos:altLabel "net revenues" ;
        rdfs:subPropertyOf kg:reported_figure ; rdfs:domain kg:IncomeStatement ; rdfs:range xsd:decimal ;
        sdmx-attribute:unitMeasure kg:currency ;
        kg:reports 12 ; skos:closeMatch <http://fasb.org/us-gaap/2023#Revenues> .

:mod:`kg.reports.learning` learns an ontology from reports.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

from rdflib import Graph, Literal, URIRef
from rdflib.namespace import OWL, RDF, RDFS, SDO, SKOS, XSD

from kg.errors import FrozenError, OntologyError
from kg.graphs import KG, SDMX_ATTRIBUTE, Terms, frozen_graph, turtle, turtle_values
from kg.reports.labels import FigureKind, KindDetector, line_item_key, spelling_keys
from kg.reports.report import Report
from kg.reports.vocabulary import ONTOLOGY, schema_triples
from kg.text import Unit

_ONTOLOGY = URIRef(ONTOLOGY)
_Values = Mapping[str, Sequence[str]]
"""The values of a subject by predicate."""


@dataclass(frozen=True)
class Property:
    """A line item.

    Attributes:
        name: Its local name.
        label: Its most frequent label.
        alt_labels: The merged labels, in alphabetical order.
        domain: The classes of its tables: the most frequent first, the others in alphabetical order.
        unit: The unit of most of its figures.
        reports: The number of its reports.
        close_match: IRIs of the same concept in US-GAAP.
    """

    name: str
    label: str
    alt_labels: tuple[str, ...]
    domain: tuple[str, ...]
    unit: Unit
    reports: int
    close_match: tuple[str, ...] = ()


@dataclass(frozen=True)
class OntologyClass:
    """A kind of statement or note with its local name, label, cues and number of reports."""

    name: str
    label: str
    cues: tuple[str, ...]
    reports: int


class Ontology:
    """Classes and properties, frozen: a write raises ``FrozenError``.

    Attributes:
        classes: Kinds of statements and notes by name, in alphabetical order.
        properties: Line items by name, in alphabetical order.
    """

    classes: Mapping[str, OntologyClass]
    properties: Mapping[str, Property]

    def __init__(self, classes: Iterable[OntologyClass], properties: Iterable[Property]) -> None:
        write = object.__setattr__
        write(self, "classes", MappingProxyType({c.name: c for c in sorted(classes, key=lambda c: c.name)}))
        write(self, "properties", MappingProxyType({p.name: p for p in sorted(properties, key=lambda p: p.name)}))

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenError(f"the ontology is frozen: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise FrozenError(f"the ontology is frozen: {name!r} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ontology) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        return f"Ontology({len(self.classes)} classes, {len(self.properties)} properties, {self.sha256[:12]})"

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of its Turtle."""
        return hashlib.sha256(self.to_turtle().encode()).hexdigest()

    @cached_property
    def graph(self) -> Graph:
        """The ontology as a frozen rdflib graph."""
        return frozen_graph(_triples(self), owner="the ontology", identifier=str(_ONTOLOGY))

    @cached_property
    def _turtle(self) -> str:
        return turtle(self.graph)

    def to_turtle(self) -> str:
        """The ontology in OWL as Turtle: the text that it was read from; equal learned ontologies give equal text."""
        return self._turtle

    @classmethod
    def from_turtle(cls, text: str) -> Ontology:
        """Reads the Turtle of :meth:`to_turtle`.

        Raises:
            DataError: The text is no valid Turtle.
            OntologyError: A class or property is incomplete.
        """
        subjects = turtle_values(text, what="ontology")

        def nodes(predicate: URIRef, value: URIRef) -> Iterator[tuple[str, _Values]]:
            key, wanted = str(predicate), str(value)
            return ((node, values) for node, values in subjects.items() if wanted in values.get(key, ()))

        ontology = cls(
            [_read_class(*node) for node in nodes(RDFS.subClassOf, KG.Entity)],
            [_read_property(*node) for node in nodes(RDFS.subPropertyOf, KG.reported_figure)],
        )
        if not ontology.classes:
            raise OntologyError("the Turtle holds no class of an ontology")
        ontology.__dict__["_turtle"] = text  # so that its hash is that of the text, which need not be written again
        return ontology

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """Property names by the keys of all labels; ties go to the more frequent property, then to the first name."""
        names: dict[str, str] = {}
        for item in sorted(self.properties.values(), key=lambda item: (-item.reports, item.name)):
            for label in (item.label, *item.alt_labels):
                names.setdefault(line_item_key(label), item.name)
        for item in sorted(self.properties.values(), key=lambda item: (-item.reports, item.name)):
            for label in (item.label, *item.alt_labels):
                for key in spelling_keys(label):
                    names.setdefault(key, item.name)
        names.pop("", None)
        return MappingProxyType(names)

    def property_for(self, label: str) -> str | None:
        """The name of a label's property, or ``None`` if the ontology does not cover it."""
        if label not in self._found:
            keys = (line_item_key(label), *spelling_keys(label))
            self._found[label] = next((self._names[key] for key in keys if key in self._names), None)
        return self._found[label]

    @cached_property
    def _found(self) -> dict[str, str | None]:
        return {}

    def class_for(self, report: Report) -> str:
        """The class of a report's table; ``GeneralTable`` without cues."""
        return self._detector.detect(*kind_words(report))

    @cached_property
    def _detector(self) -> KindDetector:
        return KindDetector(FigureKind(kind.name, kind.label, kind.cues) for kind in self.classes.values())


def kind_words(report: Report) -> tuple[str, str]:
    """The texts for the detection of a table's kind: its labels, and the sentences next to it."""
    table = report.table
    labels = " | ".join([row[0] for row in table] + list(table[0])) if table and table[0] else ""
    return labels, " ".join((*report.pre_text[-2:], *report.post_text[:1]))


def table_context(report: Report) -> tuple[str, ...]:
    """The sentences that may state a scale such as "in millions", nearest to the table first."""
    return (*reversed(report.pre_text[-3:]), *report.post_text[:1])


def _triples(ontology: Ontology) -> Iterator[Terms]:
    yield _ONTOLOGY, RDF.type, OWL.Ontology
    yield from schema_triples()
    for kind in ontology.classes.values():
        node = KG[kind.name]
        yield node, RDF.type, OWL.Class
        yield node, RDFS.subClassOf, KG.Entity
        yield node, RDFS.label, Literal(kind.label)
        yield node, KG.reports, Literal(kind.reports)
        for cue in kind.cues:
            yield node, SKOS.hiddenLabel, Literal(cue)
    for item in ontology.properties.values():
        yield from _property(item)


def _property(item: Property) -> Iterator[Terms]:
    node = KG[item.name]
    yield node, RDF.type, OWL.DatatypeProperty
    yield node, RDFS.subPropertyOf, KG.reported_figure
    yield node, RDFS.label, Literal(item.label)
    yield node, RDFS.range, XSD.decimal
    yield node, SDMX_ATTRIBUTE.unitMeasure, KG[item.unit]
    yield node, KG.reports, Literal(item.reports)
    for label in item.alt_labels:
        yield node, SKOS.altLabel, Literal(label)
    if len(item.domain) == 1:
        yield node, RDFS.domain, KG[item.domain[0]]
    else:
        yield node, RDFS.domain, KG.Entity
        yield node, KG.mainDomain, KG[item.domain[0]]
        for kind in item.domain:
            yield node, SDO.domainIncludes, KG[kind]
    for iri in item.close_match:
        yield node, SKOS.closeMatch, URIRef(iri)


def _one(node: str, values: _Values, predicate: URIRef) -> str:
    given = values.get(str(predicate))
    if not given:
        raise OntologyError(f"{node} has no {predicate}")
    return given[0]


def _strings(values: _Values, predicate: URIRef) -> tuple[str, ...]:
    return tuple(sorted(values.get(str(predicate), ())))


def _local(term: str) -> str:
    return term.removeprefix(str(KG))


def _read_class(node: str, values: _Values) -> OntologyClass:
    label, reports = _one(node, values, RDFS.label), _one(node, values, KG.reports)
    return OntologyClass(_local(node), label, _strings(values, SKOS.hiddenLabel), int(reports))


def _read_property(node: str, values: _Values) -> Property:
    return Property(
        name=_local(node),
        label=_one(node, values, RDFS.label),
        alt_labels=_strings(values, SKOS.altLabel),
        domain=_domain(node, values),
        unit=cast(Unit, _local(_one(node, values, SDMX_ATTRIBUTE.unitMeasure))),
        reports=int(_one(node, values, KG.reports)),
        close_match=_strings(values, SKOS.closeMatch),
    )


def _domain(node: str, values: _Values) -> tuple[str, ...]:
    """The classes of a property, several by ``schema:domainIncludes``, as ``rdfs:domain`` would intersect them."""
    if str(KG.mainDomain) not in values:
        return (_local(_one(node, values, RDFS.domain)),)
    main = _one(node, values, KG.mainDomain)
    return (_local(main), *(_local(kind) for kind in _strings(values, SDO.domainIncludes) if kind != main))
