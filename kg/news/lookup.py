"""Nodes of a graph whose names or aliases are near to a name that it lacks.

>>> near_nodes(graph, NodeKey("Company", "Helixon Semiconductor"))
[NodeKey(type="Company", name="Helixon Inc.")]
"""

from __future__ import annotations

from difflib import get_close_matches

from kg.growing import GrowingGraph, NodeKey
from kg.news.aliases import known_aliases
from kg.sentences import plain_name

_MOST, _LEAST = 3, 0.6
"""The most names that are offered, and the least similarity of their letters in [0, 1]."""

_TEXTS = frozenset(("Statement", "Passage", "Question", "Answer", "Alias"))
"""Types whose names are sentences or other names."""


def near_nodes(graph: GrowingGraph, key: NodeKey) -> list[NodeKey]:
    """Returns at most three nodes that a key may mean, those of its type first.

    Args:
        graph: The graph.
        key: A node that the graph lacks.
    """
    wanted = plain_name(key.name)
    known = {kind.name for kind in graph.schema.types}
    named = [(plain_name(node.key.name), node.key) for node in graph.nodes() if node.key.type not in _TEXTS]
    if key.type in _TEXTS & known:
        named += [(plain_name(node.key.name), node.key) for node in graph.nodes(key.type)]
    named += [(plain_name(alias.name), entity) for alias, entity in known_aliases(graph)]
    close = get_close_matches(wanted, [name for name, _ in named], n=_MOST, cutoff=_LEAST)
    near = (*_begun(wanted, named), *close)
    found = dict.fromkeys(node for name in near for plain, node in named if plain == name)
    return sorted(found, key=lambda node: node.type != key.type)[:_MOST]


def _begun(wanted: str, named: list[tuple[str, NodeKey]]) -> list[str]:
    """Returns the names that begin with the wanted one, or with its first word."""
    words = wanted.split()
    starts = (wanted, words[0]) if words else ()
    return [name for start in starts for name, _ in named if name == start or name.startswith(f"{start} ")]
