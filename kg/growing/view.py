"""A growing graph as a graph of entities, for the programs that answer questions about one.

>>> view = entity_view(graph)
>>> [view.lexicon.label(node) for node in view.members(TYPE + "Sector")]
['Energy', 'Semiconductor']

A copy in memory of what the graph holds now: names, classes, properties and edges, without origins and versions, and
the words of its schema: the labels of types, edges and properties, how relations are said the other way round, which
properties say when. What bears a legal form in its name is also known without it: "Helixon" is "Helixon Inc.".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rdflib import Graph, Literal, Namespace, URIRef
from rdflib.namespace import OWL, RDF, RDFS, SKOS, XSD

from kg.graphs import MemoryStore
from kg.growing import terms
from kg.growing.change import plain_properties
from kg.growing.graph import GrowingGraph
from kg.growing.schema import EdgeType, NodeType
from kg.questions import LEX, EntityGraph, spaced

_LEX = Namespace(LEX)
_LEGAL_FORM = re.compile(r",? (?:Inc|Corp|Co|Ltd|LLC|plc|PLC|AG|SE|SA|NV|BV|AB|AS|ASA|Oyj|SpA|GmbH|AD)\.?$")
_LATER, _EARLIER = ("recent", "late", "new"), ("early", "old")
"""How dates are compared: "the latest news", "the oldest event"."""


def entity_view(graph: GrowingGraph) -> EntityGraph:
    """The graph as it is now."""
    view = Graph()
    _add_words(view, graph)
    for node in graph.nodes():
        subject = URIRef(terms.node_term(node.key).value)
        view.add((subject, RDF.type, URIRef(terms.type_term(node.key.type).value)))
        view.add((subject, RDFS.label, Literal(node.key.name)))
        if _LEGAL_FORM.search(node.key.name):
            view.add((subject, SKOS.altLabel, Literal(_LEGAL_FORM.sub("", node.key.name))))
        for name, value in plain_properties(node.properties).items():
            view.add((subject, URIRef(terms.property_term(name).value), Literal(value)))
    for edge in graph.edges():
        ends = [URIRef(terms.node_term(key).value) for key in (edge.source, edge.target)]
        view.add((ends[0], URIRef(terms.edge_type_term(edge.type).value), ends[1]))
    store = MemoryStore()
    store.put_graph(terms.KNOWLEDGE.value, view)
    return EntityGraph(store, terms.KNOWLEDGE.value)


def _add_words(view: Graph, graph: GrowingGraph) -> None:
    """What the schema's types, edges and properties are called."""
    schema = graph.schema
    for kind in schema.node_types(graph.scope):
        _name(view, URIRef(terms.type_term(kind.name).value), OWL.Class, kind.name, kind.labels)
        _add_properties(view, kind)
    for edge in schema.edge_types(graph.scope):
        relation = URIRef(terms.edge_type_term(edge.name).value)
        _name(view, relation, OWL.ObjectProperty, edge.name, edge.labels)
        _add_ends(view, relation, edge)


def _add_ends(view: Graph, relation: URIRef, edge: EdgeType) -> None:
    if edge.symmetric:
        view.add((relation, RDF.type, OWL.SymmetricProperty))
    for label in edge.inverse_labels:
        view.add((relation, _LEX.inverseLabel, Literal(label)))


def _add_properties(view: Graph, kind: NodeType) -> None:
    for name in kind.properties:
        prop = URIRef(terms.property_term(name).value)
        _name(view, prop, OWL.DatatypeProperty, name, kind.labels_of(name))
        if "enum" in kind.properties_schema["properties"][name]:
            view.add((prop, RDF.type, _LEX.Classifying))
        if name in kind.temporal:
            view.add((prop, RDFS.range, XSD.dateTime))
            for sense, words in (("adjective", _LATER), ("antonym", _EARLIER)):
                for word in words:
                    view.add((prop, _LEX[sense], Literal(word)))


def _name(view: Graph, term: URIRef, kind: URIRef, name: str, labels: Iterable[str]) -> None:
    view.add((term, RDF.type, kind))
    view.add((term, RDFS.label, Literal(spaced(name))))
    for label in labels:
        view.add((term, SKOS.altLabel, Literal(label)))
