"""A growing graph as a graph of entities, for the programs that answer questions about such graphs.

>>> view = entity_view(graph)
>>> [view.lexicon.label(node) for node in view.members(TYPE + "Sector")]
['Energy', 'Semiconductor']

The view is a copy in memory: names, classes, properties and edges, without origins and versions. It has the vocabulary
of the schema: labels of types, edges and properties, inverse labels, properties of time. A company is also known
without its legal form: "Helixon" is "Helixon Inc.".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from rdflib import Graph, Literal, Namespace, URIRef
from rdflib.namespace import OWL, RDF, RDFS, SKOS, XSD

from kg.graphs import MemoryStore
from kg.growing import terms
from kg.growing.change import plain_properties
from kg.growing.graph import GrowingGraph
from kg.growing.schema import VALUE_LABELS, EdgeType, NodeType
from kg.growing.updates import NodeKey
from kg.questions import LEX, EntityGraph, spaced

_LEX = Namespace(LEX)
_LEFT_OUT = frozenset(("Statement", "Alias", "Passage", "Question", "Answer"))
"""Types that repeat what sources say; :mod:`kg.news` answers from them."""

_LEGAL_FORM = re.compile(r",? (?:Inc|Corp|Co|Ltd|LLC|plc|PLC|AG|SE|SA|NV|BV|AB|AS|ASA|Oyj|SpA|GmbH|AD)\.?$")
_LATER, _EARLIER = ("recent", "late", "new"), ("early", "old")
"""The adjectives that compare dates: "the latest news", "the oldest event"."""


def entity_view(graph: GrowingGraph) -> EntityGraph:
    """Returns a view of the graph as it is now."""
    view = Graph()
    _add_words(view, graph)
    aliases = _aliases(graph)
    for node in (node for node in graph.nodes() if node.key.type not in _LEFT_OUT):
        subject = URIRef(terms.node_term(node.key).value)
        view.add((subject, RDF.type, URIRef(terms.type_term(node.key.type).value)))
        view.add((subject, RDFS.label, Literal(node.key.name)))
        for other in {without_legal_form(node.key.name), *aliases[node.key]} - {node.key.name}:
            view.add((subject, SKOS.altLabel, Literal(other)))
        for name, value in _agreed(graph, node.key):
            view.add((subject, URIRef(terms.property_term(name).value), Literal(value)))
        for name, value in plain_properties(node.properties).items():
            view.add((subject, URIRef(terms.property_term(name).value), Literal(value)))
    for edge in graph.edges():
        if {edge.source.type, edge.target.type} & _LEFT_OUT:
            continue
        ends = [URIRef(terms.node_term(key).value) for key in (edge.source, edge.target)]
        view.add((ends[0], URIRef(terms.edge_type_term(edge.type).value), ends[1]))
    store = MemoryStore()
    store.put_graph(terms.KNOWLEDGE.value, view)
    return EntityGraph(store, terms.KNOWLEDGE.value)


def _aliases(graph: GrowingGraph) -> defaultdict[NodeKey, set[str]]:
    """Returns the other names of nodes, tickers among them, that stand for one node alone."""
    nodes: defaultdict[str, set[NodeKey]] = defaultdict(set)
    edges = list(graph.edges())
    apart = {(edge.source, edge.target) for edge in edges if edge.type == "not_alias_of"}
    for edge in edges:
        if edge.type == "alias_of" and (edge.source, edge.target) not in apart:
            nodes[edge.source.name].add(edge.target)
    for node in graph.nodes():
        ticker = node.properties.get("ticker")
        if isinstance(ticker, str) and ticker:
            nodes[ticker].add(node.key)
    names: defaultdict[NodeKey, set[str]] = defaultdict(set)
    for name, keys in nodes.items():
        for key in keys if len(keys) == 1 else ():
            names[key].add(name)
    return names


def _agreed(graph: GrowingGraph, key: NodeKey) -> Iterator[tuple[str, str]]:
    """Yields the properties of edges from a node that have one value on all of them: an event is negative."""
    values: defaultdict[str, set[str]] = defaultdict(set)
    for edge in graph.edges(key):
        for name, value in edge.properties.items() if edge.source == key else ():
            if isinstance(value, str):
                values[name].add(value)
    for name, found in values.items():
        if len(found) == 1:
            yield name, found.pop()


def without_legal_form(name: str) -> str:
    """Returns a company's name without its legal form: "Helixon" of "Helixon Inc."."""
    return _LEGAL_FORM.sub("", name)


def _add_words(view: Graph, graph: GrowingGraph) -> None:
    """Adds the names of the schema's types, edges and properties."""
    schema = graph.schema
    for kind in schema.node_types(graph.scope):
        _name(view, URIRef(terms.type_term(kind.name).value), OWL.Class, kind.name, kind.labels)
        _add_properties(view, kind)
    for edge in schema.edge_types(graph.scope):
        relation = URIRef(terms.edge_type_term(edge.name).value)
        _name(view, relation, OWL.ObjectProperty, edge.name, edge.labels)
        _add_properties(view, edge)
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
        rule = kind.properties_schema["properties"][name]
        if "enum" in rule:
            view.add((prop, RDF.type, _LEX.Classifying))
        for value, words in rule.get(VALUE_LABELS, {}).items():
            for word in words:
                view.add((prop, _LEX.valueLabel, Literal(f"{word}={value}")))
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
