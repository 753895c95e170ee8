"""A growing graph as the triples of any graph, for :class:`kg.graphs.FactGraph`.

>>> graph = FactGraph.build(graph_triples(growing))
>>> sorted(graph.name(node) for node in graph.classes[0].members)
['Energy', 'Semiconductor']

It has names, classes, properties and edges, and the words of the schema, without origins and versions. A company is
also known without its legal form: "Helixon" is "Helixon Inc.".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kg.graphs import Triple
from kg.growing import terms
from kg.growing.graph import GrowingGraph
from kg.growing.schema import Schema
from kg.growing.store import Edge, Node
from kg.growing.terms import NodeKey
from kg.text import spaced

_LABEL, _OTHER_LABEL = terms.LABEL.value, "http://www.w3.org/2004/02/skos/core#altLabel"
_TYPE = terms.RDF_TYPE.value
_LEFT_OUT = frozenset(("Statement", "Alias", "Passage"))
"""Types that repeat what sources say; :mod:`kg.news` answers from them."""

_LEGAL_FORMS = frozenset(
    re.findall(
        r"\w+",
        "inc corp corporation co ltd limited llc lp plc as aps oy srl sarl bhd ltda ad ag se sa nv bv ab asa oyj spa "
        "gmbh kg kk pty holdings holding",
    )
)
_NAME, _MIDNIGHT = "name", "T00:00:00Z"


def without_legal_form(name: str) -> str:
    """Returns a company's name without its legal form: "Helixon" of "Helixon Inc."."""
    words = name.split()
    while len(words) > 1 and words[-1].strip(".,").lower() in _LEGAL_FORMS:
        words.pop()
    return " ".join(words).rstrip(",")


def graph_triples(graph: GrowingGraph) -> Iterator[Triple]:
    """The triples of a graph as it is now; those of statements and sentences are left out."""
    yield from _words(graph.schema)
    nodes, edges = list(graph.nodes()), list(graph.edges())
    aliases, agreed = _aliases(nodes, edges), _agreed(edges)
    for node in (node for node in nodes if node.key.type not in _LEFT_OUT):
        subject = terms.node_term(node.key).value
        yield Triple(subject, _TYPE, terms.type_term(node.key.type).value, is_literal=False)
        yield Triple(subject, _LABEL, node.key.name, is_literal=True)
        for other in {without_legal_form(node.key.name), *aliases[node.key]} - {node.key.name}:
            yield Triple(subject, _OTHER_LABEL, other, is_literal=True)
        for name, value in (*agreed[node.key], *node.properties.items()):
            if name != _NAME:
                text = str(value).removesuffix(_MIDNIGHT)
                yield Triple(subject, terms.property_term(name).value, text, is_literal=True)
    for edge in edges:
        if not {edge.source.type, edge.target.type} & _LEFT_OUT:
            source, target = (terms.node_term(key).value for key in (edge.source, edge.target))
            yield Triple(source, terms.edge_type_term(edge.type).value, target, is_literal=False)


def _aliases(nodes: Iterable[Node], edges: Sequence[Edge]) -> defaultdict[NodeKey, list[str]]:
    """Returns the other names of nodes, tickers among them, that stand for one node alone."""
    named = {(edge.source.name, edge.target) for edge in edges if edge.type == "alias_of"}
    named |= {(ticker, node.key) for node in nodes if (ticker := node.properties.get("ticker"))}
    count = Counter(name for name, _ in named)
    names: defaultdict[NodeKey, list[str]] = defaultdict(list)
    for name, key in named:
        if count[name] == 1:
            names[key].append(str(name))
    return names


def _agreed(edges: Iterable[Edge]) -> defaultdict[NodeKey, list[tuple[str, str]]]:
    """Returns the properties of edges from a node that have one value on all of them: an event is negative."""
    values: defaultdict[tuple[NodeKey, str], set[str]] = defaultdict(set)
    for edge in edges:
        for name, value in edge.properties.items():
            if isinstance(value, str):
                values[edge.source, name].add(value)
    agreed: defaultdict[NodeKey, list[tuple[str, str]]] = defaultdict(list)
    for (source, name), own in values.items():
        agreed[source] += [(name, value) for value in own if len(own) == 1]
    return agreed


def _words(schema: Schema) -> Iterator[Triple]:
    """Yields the names of the schema's types, edges and properties."""
    kinds, edges = schema.node_types(), schema.edge_types()
    named = [(terms.type_term(kind.name), kind.name, kind.labels) for kind in kinds]
    named += [(terms.edge_type_term(edge.name), edge.name, edge.labels) for edge in edges]
    properties = ((name, kind.labels_of(name)) for kind in (*kinds, *edges) for name in kind.properties)
    named += [(terms.property_term(name), name, labels) for name, labels in properties]
    for term, name, labels in named:
        yield Triple(term.value, _LABEL, spaced(name), is_literal=True)
        yield from (Triple(term.value, _OTHER_LABEL, label, is_literal=True) for label in labels)
