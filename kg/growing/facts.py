"""The stored nodes and edges of a growing graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from pyoxigraph import NamedNode, Store

from kg.growing import terms
from kg.growing.updates import NodeKey

About = Mapping[NamedNode, list[Any]]


@dataclass(frozen=True)
class Node:
    """A node as it is stored.

    Attributes:
        key: Type and name, the name as it was first written.
        properties: By name.
        version: Of the type under which it was written.
        sources: The documents that it comes from, each with the place in it.
    """

    key: NodeKey
    properties: Mapping[str, Any]
    version: int = 1
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edge:
    """An edge as it is stored."""

    type: str
    source: NodeKey
    target: NodeKey
    properties: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()


class Facts:
    """The nodes and edges of a store.

    Args:
        store: Where they are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def about(self, subject: NamedNode) -> dict[NamedNode, list[Any]]:
        """All that is said of a resource."""
        found: dict[NamedNode, list[Any]] = {}
        for quad in self._store.quads_for_pattern(subject, None, None, terms.KNOWLEDGE):
            found.setdefault(quad.predicate, []).append(quad.object)
        return found

    def has_batch(self, batch: str) -> bool:
        """Whether an update of this name was applied."""
        return terms.RDF_TYPE in self.about(terms.batch_term(batch))

    def node(self, key: NodeKey) -> Node | None:
        """A node, or ``None`` if it is not there."""
        found = self.about(terms.node_term(key))
        return _node(key.type, found) if terms.LABEL in found else None

    def nodes(self, kinds: Iterable[str]) -> Iterator[Node]:
        """The nodes of some types, type by type, in the order of their names."""
        for kind in kinds:
            quads = self._store.quads_for_pattern(None, terms.RDF_TYPE, terms.type_term(kind), terms.KNOWLEDGE)
            for subject in sorted(terms.text_of(quad.subject) for quad in quads):
                yield _node(kind, self.about(NamedNode(subject)))

    def edges(self, key: NodeKey | None = None, kind: str | None = None) -> Iterator[Edge]:
        """All edges, those from or to a node, or those of a type."""
        if kind is not None:
            patterns = [(terms.EDGE_TYPE, terms.edge_type_term(kind))]
        elif key is not None:
            patterns = [(end, terms.node_term(key)) for end in (terms.FROM, terms.TO)]
        else:
            patterns = [(terms.RDF_TYPE, terms.EDGE_CLASS)]
        found = (
            terms.text_of(quad.subject)
            for predicate, value in patterns
            for quad in self._store.quads_for_pattern(None, predicate, value, terms.KNOWLEDGE)
        )
        for subject in sorted(set(found)):
            yield self._edge(NamedNode(subject))

    def _edge(self, subject: NamedNode) -> Edge:
        about = self.about(subject)
        kind = terms.text_of(about[terms.EDGE_TYPE][0]).removeprefix(terms.EDGE)
        source, target = (self._key_of(about[end][0]) for end in (terms.FROM, terms.TO))
        return Edge(kind, source, target, _properties(about), _sources(about))

    def _key_of(self, term: NamedNode) -> NodeKey:
        label = terms.text_of(self.about(term)[terms.LABEL][0])
        return NodeKey(term.value.removeprefix(terms.NODE).partition("/")[0], label)


def _node(kind: str, about: About) -> Node:
    key = NodeKey(kind, terms.text_of(about[terms.LABEL][0]))
    return Node(key, _properties(about), int(terms.text_of(about[terms.VERSION][0])), _sources(about))


def _properties(about: About) -> dict[str, Any]:
    named = {p.value.removeprefix(terms.PROPERTY): v[0] for p, v in about.items() if p.value.startswith(terms.PROPERTY)}
    return {name: terms.json_value(term) for name, term in sorted(named.items())}


def _sources(about: About) -> tuple[str, ...]:
    found = (terms.text_of(term).removeprefix(terms.SOURCE) for term in about.get(terms.DERIVED, ()))
    return tuple(sorted(map(unquote, found)))
