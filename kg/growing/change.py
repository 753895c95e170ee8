"""Updates of a growing graph: three typed operations, which are checked and translated into triples.

    [AddNode("Company", "Helixon Inc.", {"country": "USA"}),
     AddNode("Asset", "HLXN", {"type": "stock"}),
     AddEdge("issued_by", NodeKey("Asset", "HLXN"), NodeKey("Company", "Helixon Inc."))]

A node is known by its type and its name; the name is also the value of the first property that the type requires,
where that is a text. A language model writes the operations as data; nothing of what it writes is ever run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from kg.errors import SchemaError
from kg.growing import terms
from kg.growing.history import HistoryEntry, line
from kg.growing.schema import NodeType, Schema
from kg.growing.store import GraphDatabase, Node
from kg.growing.terms import NodeKey


@dataclass(frozen=True)
class AddNode:
    """A node; where it is there already, the properties that it lacks are added, and one that differs is refused."""

    type: str
    name: str
    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> NodeKey:
        """The identity of the node."""
        return NodeKey(self.type, self.name)


@dataclass(frozen=True)
class AddEdge:
    """An edge between two nodes that are there or are added by the same update; adding it again changes nothing."""

    type: str
    source: NodeKey
    target: NodeKey
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SetProperty:
    """A new value for a property of a node, in place of the one it has; ``None`` removes it."""

    node: NodeKey
    property: str
    value: Any


Update = AddNode | AddEdge | SetProperty
"""One operation."""


@dataclass(frozen=True)
class Origin:
    """The origin of facts.

    Attributes:
        document: A file, an address, a tool's call.
        place: Where in it.
    """

    document: str
    place: str = ""


@dataclass(frozen=True)
class Applied:
    """The effect of updates: the counts of new nodes, new edges and properties with a new value."""

    nodes: int = 0
    edges: int = 0
    properties: int = 0

    def __add__(self, other: Applied) -> Applied:
        return Applied(self.nodes + other.nodes, self.edges + other.edges, self.properties + other.properties)


class Change:
    """The triples that updates add and remove, collected while they are checked.

    Args:
        store: The present facts.
        schema: The present types.
        origin: Where the updates come from.

    Attributes:
        added: To be written; also what is stored and stated once more.
        removed: To be removed before.
        result: The effect.
    """

    def __init__(self, store: GraphDatabase, schema: Schema, origin: Origin) -> None:
        self._store, self._schema, self._origin = store, schema, origin
        self._source = terms.source_term(" ".join(part for part in (origin.document, origin.place) if part))
        self._pending: dict[NamedNode, Node] = {}
        self._edges: set[NamedNode] = set()
        self.added: list[Quad] = []
        self.removed: list[Quad] = []
        self.result = Applied()

    def add(self, update: Update) -> None:
        """Checks one update and collects its triples.

        Raises:
            SchemaError: It breaks the schema, contradicts what is stored, or names a node that is not there.
        """
        if isinstance(update, AddNode):
            self._add_node(update)
        elif isinstance(update, AddEdge):
            self._add_edge(update)
        else:
            self._set_property(update)

    def insert(self, subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal) -> None:
        """Adds one triple."""
        self.added.append(Quad(subject, predicate, value, terms.KNOWLEDGE))

    def entry(self, number: int, spans: Sequence[str]) -> HistoryEntry:
        """Returns the entry of the history, with the passages of the source that state the updates."""
        stated = list(dict.fromkeys(self.added))
        return HistoryEntry(
            number,
            self._origin.document,
            self._origin.place,
            datetime.now(UTC).isoformat(timespec="seconds"),
            tuple(spans),
            tuple(map(line, stated)),
            tuple(line(quad) for quad in stated if quad not in self._store),
            tuple(line(quad) for quad in dict.fromkeys(self.removed) if quad not in self.added),
        )

    def _known(self, key: NodeKey) -> Node | None:
        return self._pending.get(terms.node_term(key)) or self._store.node(key)

    def _node_of(self, key: NodeKey) -> Node:
        known = self._known(key)
        if known is None:
            raise SchemaError(f"there is no node {key}: add it first")
        return known

    def _add_node(self, update: AddNode) -> None:
        if not update.name.strip():
            raise SchemaError(f"a {update.type} needs a name")
        kind = self._schema.node_type(update.type)
        known = self._known(update.key)
        label = update.name if known is None else min(update.name, known.key.name, key=terms.spelling_order)
        given = {name: value for name, value in update.properties.items() if value is not None}
        if known is None:
            given = {**_named_by(kind, label), **given}
        elif label != known.key.name:
            named = [name for name in _named_by(kind, label) if known.properties.get(name) == known.key.name]
            for predicate in (terms.LABEL, *map(terms.property_term, named)):
                self._remove(terms.node_term(update.key), predicate)
            known = Node(NodeKey(update.type, label), {**known.properties, **dict.fromkeys(named, label)})
        properties = {**(known.properties if known else {}), **given}
        self._schema.check_node(update.type, properties)
        written = terms.property_terms(kind, given)
        before = terms.property_terms(kind, known.properties) if known else {}
        for name, term in written.items():
            if name in before and before[name] != term:
                raise SchemaError(
                    f"{update.key} has {name} {before[name].value!r}, not {term.value!r}: SetProperty changes a value"
                )
        stated = {**{name: before[name] for name in kind.required if name in before}, **written}
        subject = terms.node_term(update.key)
        self._describe(subject, terms.type_term(update.type), stated)
        self.insert(subject, terms.LABEL, Literal(label))
        self.result += Applied(nodes=known is None, properties=len(stated.keys() - before.keys()))
        self._pending[subject] = Node(NodeKey(update.type, label), properties)

    def _describe(self, subject: NamedNode, own: NamedNode, properties: Mapping[str, Literal]) -> None:
        """Adds the triples of a node or an edge, also those that are stored: this source states them too."""
        self.insert(subject, terms.RDF_TYPE, own)
        self.insert(subject, terms.DERIVED, self._source)
        for name, term in properties.items():
            self.insert(subject, terms.property_term(name), term)

    def _add_edge(self, update: AddEdge) -> None:
        for key in (update.source, update.target):
            self._node_of(key)
        self._schema.check_edge(update.type, update.source.type, update.target.type, update.properties)
        subject = terms.edge_term(update.type, update.source, update.target)
        if subject in self._edges:
            return
        self._edges.add(subject)
        kind, stored = self._schema.edge_type(update.type), self._store.about(subject)
        properties = terms.properties_of(stored) if stored else terms.property_terms(kind, update.properties)
        self._describe(subject, terms.EDGE_CLASS, properties)
        followed = terms.edge_type_term(update.type)
        source, target = terms.node_term(update.source), terms.node_term(update.target)
        for predicate, value in ((terms.EDGE_TYPE, followed), (terms.FROM, source), (terms.TO, target)):
            self.insert(subject, predicate, value)
        self.insert(source, followed, target)
        if kind.symmetric:
            self.insert(target, followed, source)
        self.result += Applied(edges=not stored)

    def _set_property(self, update: SetProperty) -> None:
        known = self._node_of(update.node)
        kind = self._schema.node_type(update.node.type)
        properties = {**known.properties, update.property: update.value}
        properties = {name: value for name, value in properties.items() if value is not None}
        self._schema.check_node(update.node.type, properties)
        subject = terms.node_term(update.node)
        self._remove(subject, terms.property_term(update.property))
        for term in terms.property_terms(kind, {update.property: update.value}).values():
            self.insert(subject, terms.property_term(update.property), term)
        self.insert(subject, terms.DERIVED, self._source)
        self._pending[subject] = replace(known, properties=properties)
        self.result += Applied(properties=1)

    def _remove(self, subject: NamedNode, predicate: NamedNode) -> None:
        self.added = [quad for quad in self.added if (quad.subject, quad.predicate) != (subject, predicate)]
        self.removed += self._store.quads(subject, predicate)


def _named_by(kind: NodeType, name: str) -> dict[str, Any]:
    """The name as the value of the first required property, where that takes any text."""
    if not kind.required:
        return {}
    rule = kind.properties_schema["properties"][kind.required[0]]
    takes_text = rule.get("type") == "string" and not set(rule) & {"enum", "format", "pattern", "const"}
    return {kind.required[0]: name} if takes_text else {}
