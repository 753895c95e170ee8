"""The types of a growing graph in the prompt of a query, and repairs of the query that a language model wrote.

    type:Asset: rdfs:label, prop:symbol (code)
    edge:issued_by: Asset -> Company

Small models write names in place of nodes, and edges and properties without their prefixes. Both are fixed without
another call. With the graph itself as triples in the prompt they copied a line of it.
"""

from __future__ import annotations

import re
from collections import defaultdict

from kg.growing import GrowingGraph
from kg.questions import spaced
from kg.schema import NodeType, Schema
from kg.text import content_tokens
from programs.wording.graphs import brief_property, nearest_nodes

_PIECES = re.compile(
    r"(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|<[^>]*>|[?$]\w+|\w*:[\w%]*"
    r"|(?P<word>[A-Za-z_]\w*)|[{}.;,)]"
)
"""Texts, IRIs, variables and prefixed names of a query, which stay as they are, and its bare words."""


def types_for(graph: GrowingGraph, question: str, shown: int) -> str:
    """Returns the types that a query for a question can use, one line a type, with the prefixes of a query.

        type:Company: prop:ticker, prop:country (based)
        edge:issued_by: Asset -> Company

    These are the types of the nodes that :func:`rendered_graph` shows and of those that the question names. Each has
    the properties of its nodes and the edges that join them.
    """
    schema, scope = graph.schema, graph.scope
    ordered = nearest_nodes(graph, question)
    wanted = set(content_tokens(question))
    near = {node.key.type for node in ordered[:shown]}
    used: dict[str, set[str]] = defaultdict(set)
    for node in ordered:
        used[node.key.type].update(node.properties)
    kinds = [kind for kind in schema.node_types(scope) if kind.name in near or wanted & _words(kind)]
    names = {kind.name for kind in kinds}
    ends: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for edge in graph.edges():
        if {edge.source.type, edge.target.type} <= names:
            ends[edge.type][0].add(edge.source.type)
            ends[edge.type][1].add(edge.target.type)
    lines = []
    for kind in kinds:
        properties = [brief_property(kind, name, "prop:") for name in kind.properties if name in used[kind.name]]
        lines.append(f"type:{kind.name}: {', '.join(['rdfs:label', *properties])}")
    lines += [f"edge:{name}: {'|'.join(sorted(a))} -> {'|'.join(sorted(b))}" for name, (a, b) in sorted(ends.items())]
    return "\n".join(lines)


def _words(kind: NodeType) -> set[str]:
    return set(content_tokens(" ".join((spaced(kind.name), *kind.labels))))


def completed(query: str, schema: Schema, scope: str | None = None) -> str:
    """Returns a query with prefixes of edges and properties, and with nodes in place of their names.

    >>> completed('SELECT ?c { ?a issued_by "Helixon Inc." }', investment_schema())
    'SELECT ?c { ?a edge:issued_by [ rdfs:label "Helixon Inc." ] }'

    Only the graph pattern changes: whole words that are neither variables, nor text, nor part of a name. Texts become
    nodes where only a node is possible: after an edge, and at the beginning of a triple.
    """
    known = {name: f"prop:{name}" for kind in schema.node_types(scope) for name in kind.properties}
    known |= {edge.name: f"edge:{edge.name}" for edge in schema.edge_types(scope)}
    head, brace, pattern = query.partition("{")
    before, listed = "{", False

    def mended(match: re.Match[str]) -> str:
        nonlocal before, listed
        piece = known.get(match["word"], match[0]) if match["word"] is not None else match[0]
        last, before = before, piece
        if piece in ("{", "}"):
            listed = piece == "{" and last.startswith(("?", "$", ")"))  # VALUES ?name { "Helixon Inc." }
        if match["text"] is not None and not listed and (last in ("{", ".") or last.startswith("edge:")):
            return f"[ rdfs:label {piece} ]"
        return piece

    return head + brace + _PIECES.sub(mended, pattern)
