"""The ontology as OWL and back: ``Ontology`` records to rdflib triples and the other way round.

A property, as Turtle::

    kg:net_revenue a owl:DatatypeProperty ; rdfs:label "net revenue" ; skos:altLabel "net revenues" ;
        rdfs:subPropertyOf kg:reported_figure ; rdfs:domain kg:IncomeStatement ; rdfs:range xsd:decimal ;
        sdmx-attribute:unitMeasure kg:currency ;
        kg:reports 12 ; skos:closeMatch <http://fasb.org/us-gaap/2023#Revenues> .
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from rdflib import Graph, Literal, URIRef
from rdflib.namespace import OWL, RDF, RDFS, SDO, SKOS, XSD

from kg.errors import OntologyError
from kg.graphs import KG, SDMX_ATTRIBUTE, Triple, frozen_graph, read_turtle
from kg.reports.ontology import Merge, Ontology, OntologyClass, Property
from kg.reports.vocabulary import ONTOLOGY, schema_triples
from kg.text import Unit

_ONTOLOGY = URIRef(ONTOLOGY)


def ontology_graph(ontology: Ontology) -> Graph:
    """The ontology as a frozen graph."""
    return frozen_graph(_triples(ontology), owner="the ontology", identifier=str(_ONTOLOGY))


def _triples(ontology: Ontology) -> Iterator[Triple]:
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
    for place, merge in enumerate(ontology.merges):
        node = KG[f"merge-{place}"]
        yield node, RDF.type, KG.Merge
        yield node, KG.mergedLabel, Literal(merge.label)
        yield node, KG.mergedInto, KG[merge.into]
        yield node, KG.mergeRule, Literal(merge.rule)
        yield node, KG.reports, Literal(merge.reports)


def _property(item: Property) -> Iterator[Triple]:
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


def read_ontology(text: str) -> Ontology:
    """See ``Ontology.from_turtle``."""
    graph = read_turtle(text, what="ontology")
    classes = [_read_class(graph, node) for node in graph.subjects(RDFS.subClassOf, KG.Entity)]
    properties = [_read_property(graph, node) for node in graph.subjects(RDFS.subPropertyOf, KG.reported_figure)]
    merges = [_read_merge(graph, node) for node in graph.subjects(RDF.type, KG.Merge)]
    if not classes:
        raise OntologyError("the Turtle holds no class of an ontology")
    return Ontology(classes, properties, merges)


def _one(graph: Graph, node: Any, predicate: URIRef) -> Any:
    value = graph.value(node, predicate)
    if value is None:
        raise OntologyError(f"{node} has no {predicate}")
    return value


def _strings(graph: Graph, node: Any, predicate: URIRef) -> tuple[str, ...]:
    return tuple(sorted(str(value) for value in graph.objects(node, predicate)))


def _local(term: Any) -> str:
    return str(term).removeprefix(str(KG))


def _read_class(graph: Graph, node: Any) -> OntologyClass:
    label, reports = _one(graph, node, RDFS.label), _one(graph, node, KG.reports)
    return OntologyClass(_local(node), str(label), _strings(graph, node, SKOS.hiddenLabel), int(reports))


def _read_property(graph: Graph, node: Any) -> Property:
    return Property(
        name=_local(node),
        label=str(_one(graph, node, RDFS.label)),
        alt_labels=_strings(graph, node, SKOS.altLabel),
        domain=_domain(graph, node),
        unit=cast(Unit, _local(_one(graph, node, SDMX_ATTRIBUTE.unitMeasure))),
        reports=int(_one(graph, node, KG.reports)),
        close_match=_strings(graph, node, SKOS.closeMatch),
    )


def _domain(graph: Graph, node: Any) -> tuple[str, ...]:
    """``rdfs:domain`` over several classes would mean all of them at once, so several are "included" instead."""
    main = graph.value(node, KG.mainDomain)
    if main is None:
        return (_local(_one(graph, node, RDFS.domain)),)
    return (_local(main), *sorted(_local(kind) for kind in graph.objects(node, SDO.domainIncludes) if kind != main))


def _read_merge(graph: Graph, node: Any) -> Merge:
    return Merge(
        label=str(_one(graph, node, KG.mergedLabel)),
        into=_local(_one(graph, node, KG.mergedInto)),
        rule=str(_one(graph, node, KG.mergeRule)),
        reports=int(_one(graph, node, KG.reports)),
    )
