"""A growing graph and its types in prompts.

    Company Helixon Inc. (country USA); in_sector -> Sector Semiconductors
    MarketEvent Q3 results (occurred_at 2026-10-22T00:00:00Z, type earnings); affects -> Company Helixon Inc.

Nodes whose words the question uses come first, then those that are linked with them; the rest is counted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable

from kg.growing import Edge, EdgeType, GrowingGraph, Node, NodeKey, NodeType, Schema
from kg.text import content_tokens

_LONGEST = 300
_LONGEST_SHOWN = 100
"""Characters of a value of a node in a prompt: it distinguishes nodes, a query fetches the whole."""


def rendered_graph(graph: GrowingGraph, question: str, shown: int) -> str:
    """The nodes nearest to a question, one line each.

    Args:
        graph: The graph.
        question: It orders the nodes and is not written.
        shown: Nodes at the most.
    """
    ordered = nearest_nodes(graph, question)
    if not ordered:
        return "empty"
    following: dict[NodeKey, list[Edge]] = defaultdict(list)
    for edge in graph.edges():
        following[edge.source].append(edge)
    lines = [_written(node, following[node.key]) for node in ordered[:shown]]
    left = len(ordered) - len(lines)
    return "\n".join([*lines, f"and {left} more nodes"] if left else lines)


def nearest_nodes(graph: GrowingGraph, question: str) -> list[Node]:
    """All nodes: those whose words the question uses first, then those that are linked with them."""
    nodes = list(graph.nodes())
    neighbours: dict[NodeKey, set[NodeKey]] = defaultdict(set)
    for edge in graph.edges():
        neighbours[edge.source].add(edge.target)
        neighbours[edge.target].add(edge.source)
    wanted = set(content_tokens(question))
    own = {node.key: len(wanted & set(content_tokens(_written(node, ())))) for node in nodes}

    def nearness(node: Node) -> float:
        around = max((own.get(key, 0) for key in neighbours[node.key]), default=0)
        return own[node.key] + around / 2

    return sorted(nodes, key=nearness, reverse=True)  # stable: equally near ones stay in the order of their names


def rendered_types(schema: Schema) -> str:
    """Renders all current types for a prompt, a few lines each."""
    lines = ["<available_node_types>"]
    for node in schema.node_types():
        lines += [f"- {node.name}: {node.description}", *_rendered_labels(node), *_rendered_properties(node)]
    lines += ["</available_node_types>", "<available_edge_types>"]
    for edge in schema.edge_types():
        arrow = "↔" if edge.symmetric else "→"
        source, target = ("|".join(ends) or "any node" for ends in (edge.source_types, edge.target_types))
        lines += [f"- {edge.name}: {source} {arrow} {target}"]
        lines += [f"  Description: {edge.description}", *_rendered_labels(edge), *_rendered_properties(edge)]
    return "\n".join([*lines, "</available_edge_types>"])


def _rendered_labels(kind: NodeType | EdgeType) -> Iterable[str]:
    if kind.labels:
        yield f"  Also called: {', '.join(kind.labels)}"
    if isinstance(kind, EdgeType) and kind.inverse_labels:
        yield f"  The other way round: {', '.join(kind.inverse_labels)}"


def _rendered_properties(kind: NodeType | EdgeType) -> Iterable[str]:
    for title, names in (
        ("Required", kind.required),
        ("Optional", [name for name in kind.properties if name not in kind.required]),
    ):
        if names:
            yield f"  {title}: {', '.join(_with_labels(kind, name) for name in names)}"
    yield f"  Example: {json.dumps(dict(kind.example), ensure_ascii=False)}"


def _with_labels(kind: NodeType, name: str) -> str:
    labels = kind.labels_of(name)
    return f"{name} ({', '.join(labels)})" if labels else name


def _written(node: Node, edges: tuple[Edge, ...] | list[Edge]) -> str:
    named = {name: value for name, value in node.properties.items() if str(value) != node.key.name}
    properties = ", ".join(f"{name} {_one_line(value, _LONGEST_SHOWN)}" for name, value in named.items())
    parts = [f"{node.key.type} {node.key.name}" + (f" ({properties})" if properties else "")]
    parts += [f"{edge.type} -> {edge.target.type} {edge.target.name}" for edge in edges]
    return "; ".join(parts)


def _one_line(value: object, longest: int = _LONGEST) -> str:
    flat = " ".join(str(value).split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"
