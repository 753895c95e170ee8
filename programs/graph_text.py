"""A growing graph and the rows of its queries as a language model is shown them.

    Company Helixon Inc. (country USA); in_sector -> Sector Semiconductors
    MarketEvent Q3 results (occurred_at 2026-10-22T00:00:00Z, type earnings); affects -> Company Helixon Inc.

Nodes whose words the question uses come first, then those that are linked with them; the rest is counted.
"""

from __future__ import annotations

from collections import defaultdict
from urllib.parse import unquote

from kg.growing import Edge, GrowingGraph, Node
from kg.growing_terms import NODE
from kg.isolated_query import QueryResult
from kg.text import content_tokens
from kg.updates import NodeKey

_LONGEST = 300


def rendered_graph(graph: GrowingGraph, question: str, shown: int) -> str:
    """The nodes nearest to a question, one line each.

    Args:
        graph: The graph.
        question: It orders the nodes and is not written.
        shown: Nodes at the most.
    """
    nodes = list(graph.nodes())
    if not nodes:
        return "empty"
    following: dict[NodeKey, list[Edge]] = defaultdict(list)
    neighbours: dict[NodeKey, set[NodeKey]] = defaultdict(set)
    for edge in graph.edges():
        following[edge.source].append(edge)
        neighbours[edge.source].add(edge.target)
        neighbours[edge.target].add(edge.source)
    wanted = set(content_tokens(question))
    own = {node.key: len(wanted & set(content_tokens(_written(node, ())))) for node in nodes}

    def nearness(node: Node) -> float:
        around = max((own.get(key, 0) for key in neighbours[node.key]), default=0)
        return own[node.key] + around / 2

    ordered = sorted(nodes, key=nearness, reverse=True)  # stable: equally near ones stay in the order of their names
    lines = [_written(node, following[node.key]) for node in ordered[:shown]]
    left = len(ordered) - len(lines)
    return "\n".join([*lines, f"and {left} more nodes"] if left else lines)


def rendered_rows(found: QueryResult) -> str:
    """The rows of a query, one line each; a node is written by its type and name."""
    if not found.rows:
        return "no rows"
    lines = [
        "; ".join(f"{name}={_plain(value)}" for name, value in zip(found.columns, row, strict=True))
        for row in found.rows
    ]
    return "\n".join([*lines, "and more rows"] if found.more else lines)


def _written(node: Node, edges: tuple[Edge, ...] | list[Edge]) -> str:
    named = {name: value for name, value in node.properties.items() if str(value) != node.key.name}
    properties = ", ".join(f"{name} {_one_line(value)}" for name, value in named.items())
    parts = [f"{node.key.type} {node.key.name}" + (f" ({properties})" if properties else "")]
    parts += [f"{edge.type} -> {edge.target.type} {edge.target.name}" for edge in edges]
    return "; ".join(parts)


def _one_line(value: object) -> str:
    flat = " ".join(str(value).split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


def _plain(value: object) -> str:
    text = _one_line(value)
    if text.startswith(NODE):
        kind, _, name = text.removeprefix(NODE).partition("/")
        return f"{kind} {unquote(name)}"
    return text
