"""Names that stand for an entity: those that documents state, and those that a person joined.

    join_alias(graph, "NVTK", NodeKey("Company", "Novatek Semiconductors Inc."))
    known_companies(graph)["Novatek Semiconductors Inc."]      # ('NVTK',)

A person gives a name to one entity only, and it then goes before what documents say. Each name is one entry of the
history, so ``graph.undo`` restores what was before. Statements move with their name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from kg.errors import SchemaError
from kg.growing import AddEdge, AddNode, Applied, GrowingGraph, NodeKey, Origin, SetProperty, Update
from kg.news.names import name_pattern, plain_name

STANDS_FOR = "alias_of"

BY_HAND = "by hand"
"""The source of what a person states; it decides where a document says otherwise."""


def known_aliases(graph: GrowingGraph) -> list[tuple[NodeKey, NodeKey]]:
    """Returns the names with the entities that they stand for."""
    apart = {(edge.source, edge.target) for edge in graph.edges(kind="not_alias_of")}  # of an earlier version
    pairs = ((edge.source, edge.target) for edge in graph.edges(kind=STANDS_FOR))
    return sorted((pair for pair in pairs if pair not in apart), key=str)


def names_by_hand(graph: GrowingGraph) -> list[tuple[str, NodeKey]]:
    """Returns the names that a person gave, with their entities."""
    edges = (edge for edge in graph.edges(kind=STANDS_FOR) if BY_HAND in edge.sources)
    return sorted(((edge.source.name, edge.target) for edge in edges), key=str)


def with_full_names(text: str, names: Iterable[tuple[str, str]]) -> str:
    """Returns a text with full names in place of other ones; the beginning of a longer name stays ("Nova Labs").

    Args:
        text: The text.
        names: Other names with the full ones; the longest goes first. One that its full name has stays.
    """
    for alias, full in sorted(names, key=lambda pair: -len(pair[0])):
        if plain_name(alias) not in plain_name(full):
            whole = re.compile(rf"{name_pattern(alias).pattern}(?!\s+(?-i:[A-Z][a-z]))", name_pattern(alias).flags)
            text = full.join(whole.split(text))
    return text


def alias_key(graph: GrowingGraph, alias: str, entity: NodeKey) -> NodeKey:
    """Returns the node of a name of an entity, as it was first written: "the Derby group" is known by "Derby group"."""
    edges = (edge for edge in graph.edges(kind=STANDS_FOR) if edge.target == entity)
    return next(
        (edge.source for edge in edges if plain_name(edge.source.name) == plain_name(alias)), NodeKey("Alias", alias)
    )


def join_alias(graph: GrowingGraph, alias: str, entity: NodeKey) -> Applied:
    """Lets a name stand for an entity; statements about the name are then about the entity.

    Args:
        graph: The graph; it changes.
        alias: The name.
        entity: A node of the graph.

    Raises:
        SchemaError: There is no such node, or a person gave the name to another one, or it is another one's ticker.
    """
    with graph.writing:
        node = graph.node(entity)
        if node is None:
            raise SchemaError(f"there is no node {entity}: add it first")
        if not plain_name(alias):
            raise SchemaError(f"an alias must have a letter or a digit, got {alias!r}")
        given = [(name, other) for name, other in names_by_hand(graph) if plain_name(name) == plain_name(alias)]
        tickers = ((str(one.properties.get("ticker", "")), one.key) for one in graph.nodes("Company"))
        others = [other for name, other in (*given, *tickers) if plain_name(name) == plain_name(alias)]
        if set(others) - {node.key}:
            other = next(one for one in others if one != node.key)
            raise SchemaError(f"{alias!r} stands for {other} and cannot also stand for {node.key}")
        key = alias_key(graph, alias, node.key)
        joined: list[Update] = [] if given else [AddNode("Alias", key.name), AddEdge(STANDS_FOR, key, node.key)]
        return graph.apply([*joined, *_moved(graph, alias, node.key.name)], Origin(BY_HAND))


def _moved(graph: GrowingGraph, before: str, after: str) -> Iterator[Update]:
    """Yields the updates of statements from one name to another."""
    for node in graph.nodes("Statement"):
        for end in ("subject", "value"):
            if plain_name(str(node.properties[end])) == plain_name(before):
                yield SetProperty(node.key, end, after)


def known_companies(graph: GrowingGraph) -> dict[str, tuple[str, ...]]:
    """Returns the companies of a graph with their other names and symbols, without those that are names of others."""
    given = {plain_name(alias): entity for alias, entity in names_by_hand(graph)}
    others: defaultdict[NodeKey, list[str]] = defaultdict(list)
    for edge in graph.edges(kind="issued_by"):
        others[edge.target].append(edge.source.name)
    for alias, entity in known_aliases(graph):
        others[entity].append(alias.name)
    keys = (node.key for node in graph.nodes("Company"))
    own = (key for key in keys if given.get(plain_name(key.name), key) == key)
    return {key.name: tuple(dict.fromkeys(others[key])) for key in own}
