"""Names that stand for an entity, joined by hand and taken back.

    graph.apply(alias_updates(graph, "NVTK", NodeKey("Company", "Novatek Semiconductors Inc.")), Origin(BY_HAND))
    graph.apply(separation_updates(graph, "Nova", NodeKey("Company", "Novatek Semiconductors Inc.")), Origin(BY_HAND))

Each is one entry of the history, so ``graph.undo`` restores what was before. A name that was taken back stays apart,
also when a later document joins it again. Statements move with their name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kg.errors import SchemaError
from kg.growing import AddEdge, AddNode, GrowingGraph, Node, NodeKey, SetProperty, Update
from kg.sentences import plain_name

STANDS_FOR, STANDS_NOT_FOR = "alias_of", "not_alias_of"

BY_HAND = "by hand"
"""The source of what a person states; it decides where a document says otherwise."""


def separated(graph: GrowingGraph) -> set[tuple[NodeKey, NodeKey]]:
    """Returns the pairs of a name and an entity that were taken apart."""
    return {(edge.source, edge.target) for edge in graph.edges() if edge.type == STANDS_NOT_FOR}


def known_aliases(graph: GrowingGraph) -> list[tuple[NodeKey, NodeKey]]:
    """Returns the names with the entities that they stand for, without those that were taken back."""
    apart = separated(graph)
    pairs = ((edge.source, edge.target) for edge in graph.edges() if edge.type == STANDS_FOR)
    return sorted((pair for pair in pairs if pair not in apart), key=str)


def alias_updates(graph: GrowingGraph, alias: str, entity: NodeKey) -> list[Update]:
    """Returns the updates that let a name stand for an entity; statements about the name are then about the entity.

    Args:
        graph: The graph.
        alias: The name.
        entity: A node of the graph.

    Raises:
        SchemaError: There is no such node, or the name was taken back from it.
    """
    key = NodeKey("Alias", alias)
    _check(graph, entity)
    if (key, entity) in separated(graph):
        raise SchemaError(f"{alias!r} was taken back from {entity}: undo that change of the history first")
    joined: list[Update] = [AddNode("Alias", alias), AddEdge(STANDS_FOR, key, entity)]
    return [*joined, *_moved(graph, alias, entity.name)]


def separation_updates(graph: GrowingGraph, alias: str, entity: NodeKey) -> list[Update]:
    """Returns the updates by which a name no longer stands for an entity.

    Statements whose sentence has the name, and not that of the entity, are then about the name.

    Args:
        graph: The graph.
        alias: The name.
        entity: The node that it stands for.

    Raises:
        SchemaError: The name does not stand for the node.
    """
    key = NodeKey("Alias", alias)
    _check(graph, entity)
    if (key, entity) not in known_aliases(graph):
        raise SchemaError(f"{alias!r} does not stand for {entity}")
    return [AddEdge(STANDS_NOT_FOR, key, entity), *_moved(graph, entity.name, alias, where=alias)]


def _check(graph: GrowingGraph, entity: NodeKey) -> None:
    if graph.node(entity) is None:
        raise SchemaError(f"there is no node {entity}: add it first")


def _moved(graph: GrowingGraph, before: str, after: str, where: str = "") -> Iterator[Update]:
    """Yields the updates of statements from one name to another; with ``where`` only of sentences with that name."""
    for node in graph.nodes("Statement"):
        if where and not _is_named(node, where, before):
            continue
        for end in ("subject", "value"):
            if plain_name(str(node.properties[end])) == plain_name(before):
                yield SetProperty(node.key, end, after)


def _is_named(node: Node, name: str, other: str) -> bool:
    """Whether the sentence of a statement has a name, and not the other one."""
    sentence = str(node.properties["sentence"])
    rest = re.sub(rf"\b{re.escape(other)}", " ", sentence)
    return re.search(rf"\b{re.escape(name)}\b", rest) is not None and other not in sentence
