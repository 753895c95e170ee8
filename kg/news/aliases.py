"""Names that stand for an entity, joined by hand and taken back.

    join_alias(graph, "NVTK", NodeKey("Company", "Novatek Semiconductors Inc."))
    graph.apply(separation_updates(graph, "Nova", NodeKey("Company", "Novatek Semiconductors Inc.")), Origin(BY_HAND))

Each is one entry of the history, so ``graph.undo`` restores what was before. A name that was taken back stays apart,
also when a later document joins it again; only a person joins it again. Statements move with their name. A person gives
a name to one entity only. Documents may give it to several, and then the one that a person named has it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from kg.errors import SchemaError
from kg.growing import (
    AddEdge,
    AddNode,
    Applied,
    GrowingGraph,
    HistoryEntry,
    Node,
    NodeKey,
    Origin,
    SetProperty,
    Update,
    terms,
)
from kg.sentences import name_pattern, plain_name

STANDS_FOR, STANDS_NOT_FOR = "alias_of", "not_alias_of"

BY_HAND = "by hand"
"""The source of what a person states; it decides where a document says otherwise."""


def separated(graph: GrowingGraph) -> set[tuple[NodeKey, NodeKey]]:
    """Returns the pairs of a name and an entity that were taken apart."""
    return {(edge.source, edge.target) for edge in graph.edges(kind=STANDS_NOT_FOR)}


def known_aliases(graph: GrowingGraph) -> list[tuple[NodeKey, NodeKey]]:
    """Returns the names with the entities that they stand for, without those that were taken back."""
    apart = separated(graph)
    pairs = ((edge.source, edge.target) for edge in graph.edges(kind=STANDS_FOR))
    return sorted((pair for pair in pairs if pair not in apart), key=str)


def shared_aliases(graph: GrowingGraph) -> dict[str, tuple[NodeKey, ...]]:
    """Returns the names that stand for several entities, and that a person gave to none or to several of them."""
    entities: defaultdict[str, dict[NodeKey, None]] = defaultdict(dict)
    written: dict[str, str] = {}
    for alias, entity in known_aliases(graph):
        written.setdefault(plain_name(alias.name), alias.name)
        entities[plain_name(alias.name)][entity] = None
    by_hand = _given_by_hand(graph)
    return {
        written[plain]: tuple(found)
        for plain, found in entities.items()
        if len(found) > 1 and len(by_hand.get(plain, ())) != 1
    }


def names_by_hand(graph: GrowingGraph) -> list[tuple[str, NodeKey]]:
    """Returns the names that a person gave, with their entities."""
    by_hand = _given_by_hand(graph)
    return [(alias.name, one) for alias, one in known_aliases(graph) if one in by_hand.get(plain_name(alias.name), ())]


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


def written_aliases(graph: GrowingGraph) -> dict[tuple[str, NodeKey], NodeKey]:
    """Returns the nodes of names by plain name and entity: that of "the Derby group" is known by "derby group"."""
    return {(plain_name(edge.source.name), edge.target): edge.source for edge in graph.edges(kind=STANDS_FOR)}


def alias_key(graph: GrowingGraph, alias: str, entity: NodeKey) -> NodeKey:
    """Returns the node of a name of an entity, as it was first written."""
    return written_aliases(graph).get((plain_name(alias), entity), NodeKey("Alias", alias))


def alias_updates(graph: GrowingGraph, alias: str, entity: NodeKey) -> list[Update]:
    """Returns the updates that let a name stand for an entity; statements about the name are then about the entity.

    Args:
        graph: The graph.
        alias: The name.
        entity: A node of the graph.

    Returns:
        The updates; none if a person gave it this name before and no statement has to move.

    Raises:
        SchemaError: There is no such node, the name was taken back from it, or the name stands for another entity.
    """
    entity = _stored(graph, entity)
    key = alias_key(graph, alias, entity)
    _check_name(alias)
    entry = separation_of(graph, alias, entity)
    if entry is not None:
        raise SchemaError(
            f"{alias!r} was taken back from {entity} by change {entry.number}: undo that change of the history first"
        )
    _check_free(graph, alias, entity)
    is_given = any(plain_name(alias) == plain and entity in found for plain, found in _given_by_hand(graph).items())
    joined: list[Update] = [] if is_given else [AddNode("Alias", key.name), AddEdge(STANDS_FOR, key, entity)]
    return [*joined, *_moved(graph, alias, entity.name)]


def join_alias(graph: GrowingGraph, alias: str, entity: NodeKey) -> Applied:
    """Lets a name stand for an entity, also one from which it was taken back.

    A change that took it back is undone first.

    Args:
        graph: The graph; it changes.
        alias: The name.
        entity: A node of the graph.

    Raises:
        SchemaError: As :func:`alias_updates` does, or the change that took the name back cannot be undone.
    """
    with graph.writing:
        _check_free(graph, alias, _stored(graph, entity))
        while (entry := separation_of(graph, alias, entity)) is not None:
            graph.undo(entry.number)
        return graph.apply(alias_updates(graph, alias, entity), Origin(BY_HAND))


def separation_of(graph: GrowingGraph, alias: str, entity: NodeKey) -> HistoryEntry | None:
    """Returns the last change that took a name back from an entity; ``None`` if the name is not taken back."""
    start = f"{terms.edge_term(STANDS_NOT_FOR, alias_key(graph, alias, entity), entity)} "
    found = (entry for entry in reversed(graph.history()) if not entry.undone)
    return next((entry for entry in found if any(line.startswith(start) for line in entry.asserted)), None)


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
    entity = _stored(graph, entity)
    key = alias_key(graph, alias, entity)
    if (key, entity) not in known_aliases(graph):
        raise SchemaError(f"{alias!r} does not stand for {entity}")
    return [AddEdge(STANDS_NOT_FOR, key, entity), *_moved(graph, entity.name, key.name, where=key.name)]


def _stored(graph: GrowingGraph, entity: NodeKey) -> NodeKey:
    """Returns a node as it is stored.

    Raises:
        SchemaError: There is no such node.
    """
    node = graph.node(entity)
    if node is None:
        raise SchemaError(f"there is no node {entity}: add it first")
    return node.key


def _check_name(alias: str) -> None:
    if not plain_name(alias):
        raise SchemaError(f"an alias must have a letter or a digit, got {alias!r}")


def _check_free(graph: GrowingGraph, alias: str, entity: NodeKey) -> None:
    """Raises SchemaError where a name stands for another entity, unless documents give it to several.

    With the entity that documents already give it to, a person decides between them.
    """
    plain = plain_name(alias)
    by_hand = _given_by_hand(graph).get(plain, ())
    named = [one for name, one in known_aliases(graph) if plain_name(name.name) == plain]
    others = [one for one in (by_hand if by_hand else named) if one != entity]
    if others and (by_hand or entity not in named):
        raise SchemaError(
            f"{alias!r} stands for {others[0]} and cannot also stand for {entity}: take it back from {others[0]} first"
        )
    for node in graph.nodes("Company"):
        if node.key != entity and plain_name(str(node.properties.get("ticker", ""))) == plain:
            raise SchemaError(f"{alias!r} is the ticker of {node.key} and cannot also stand for {entity}")


def _given_by_hand(graph: GrowingGraph) -> dict[str, list[NodeKey]]:
    """Returns the plain names that a person gave, with their entities."""
    apart = separated(graph)
    found: defaultdict[str, list[NodeKey]] = defaultdict(list)
    for edge in graph.edges(kind=STANDS_FOR):
        if BY_HAND in edge.sources and (edge.source, edge.target) not in apart:
            found[plain_name(edge.source.name)].append(edge.target)
    return found


def _moved(graph: GrowingGraph, before: str, after: str, where: str = "") -> Iterator[Update]:
    """Yields the updates of statements from one name to another; with ``where`` only of sentences with that name."""
    for node in graph.nodes("Statement"):
        if where and not _is_named(node, where, before):
            continue
        for end in ("subject", "value"):
            if _is_meant(str(node.properties[end]), before, str(node.properties["sentence"])):
                yield SetProperty(node.key, end, after)


def _is_meant(given: str, name: str, sentence: str) -> bool:
    """Whether a statement's name is another one, or its beginning where the sentence has the whole: "Derby"."""
    short, whole = plain_name(given), plain_name(name)
    return short == whole or (whole.startswith(f"{short} ") and name_pattern(name).search(sentence) is not None)


def _is_named(node: Node, name: str, other: str) -> bool:
    """Whether the sentence of a statement has a name, and not the other one."""
    sentence = str(node.properties["sentence"])
    rest = re.sub(rf"\b{re.escape(other)}", " ", sentence)
    return name_pattern(name).search(rest) is not None and other not in sentence
