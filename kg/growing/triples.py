"""A growing graph as the triples of any graph, for :class:`kg.graphs.FactGraph`.

>>> graph = FactGraph.build(graph_triples(growing))
>>> sorted(graph.name(node) for node in graph.classes[0].members)
['Energy', 'Semiconductor']

It has names, classes, properties and edges, and the words of the schema, without origins and versions. A company is
also known without its legal form: "Helixon" is "Helixon Inc.".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from kg.graphs import Triple
from kg.growing import terms
from kg.growing.graph import GrowingGraph
from kg.growing.updates import NodeKey
from kg.text import spaced

_LABEL, _OTHER_LABEL = terms.LABEL.value, "http://www.w3.org/2004/02/skos/core#altLabel"
_TYPE = terms.RDF_TYPE.value
_LEFT_OUT = frozenset(("Statement", "Alias", "Passage", "Question", "Answer"))
"""Types that repeat what sources say; :mod:`kg.news` answers from them."""

_LEGAL_FORM = re.compile(r",? (?:Inc|Corp|Co|Ltd|LLC|plc|PLC|AG|SE|SA|NV|BV|AB|AS|ASA|Oyj|SpA|GmbH|AD)\.?$")
_NAME, _MIDNIGHT = "name", "T00:00:00Z"


def without_legal_form(name: str) -> str:
    """Returns a company's name without its legal form: "Helixon" of "Helixon Inc."."""
    return _LEGAL_FORM.sub("", name)


def graph_triples(graph: GrowingGraph) -> Iterator[Triple]:
    """The triples of a graph as it is now; those of answers and sentences are left out."""
    yield from _words(graph)
    aliases = _aliases(graph)
    for node in (node for node in graph.nodes() if node.key.type not in _LEFT_OUT):
        subject = terms.node_term(node.key).value
        yield Triple(subject, _TYPE, terms.type_term(node.key.type).value, is_literal=False)
        yield Triple(subject, _LABEL, node.key.name, is_literal=True)
        for other in {without_legal_form(node.key.name), *aliases[node.key]} - {node.key.name}:
            yield Triple(subject, _OTHER_LABEL, other, is_literal=True)
        for name, value in (*_agreed(graph, node.key), *node.properties.items()):
            if name != _NAME:
                text = str(value).removesuffix(_MIDNIGHT)
                yield Triple(subject, terms.property_term(name).value, text, is_literal=True)
    for edge in graph.edges():
        if not {edge.source.type, edge.target.type} & _LEFT_OUT:
            source, target = (terms.node_term(key).value for key in (edge.source, edge.target))
            yield Triple(source, terms.edge_type_term(edge.type).value, target, is_literal=False)


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
    for name, own in values.items():
        if len(own) == 1:
            yield name, own.pop()


def _words(graph: GrowingGraph) -> Iterator[Triple]:
    """Yields the names of the schema's types, edges and properties."""
    schema = graph.schema
    for kind in schema.node_types():
        yield from _named(terms.type_term(kind.name).value, kind.name, kind.labels)
    for edge in schema.edge_types():
        yield from _named(terms.edge_type_term(edge.name).value, edge.name, edge.labels)
    for own in (*schema.node_types(), *schema.edge_types()):
        for name in own.properties:
            yield from _named(terms.property_term(name).value, name, own.labels_of(name))


def _named(term: str, name: str, labels: Iterable[str]) -> Iterator[Triple]:
    yield Triple(term, _LABEL, spaced(name), is_literal=True)
    yield from (Triple(term, _OTHER_LABEL, label, is_literal=True) for label in labels)
