"""Translation of updates into triples, with checks against the schema and the stored facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from kg.errors import SchemaError
from kg.growing import terms
from kg.growing.facts import Facts, Node
from kg.growing.history import Replaced
from kg.growing.schema import EdgeType, NodeType, Schema
from kg.growing.updates import AddEdge, AddNode, NodeKey, SetProperty, Update


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
    """The triples that updates add and remove, gathered while they are checked.

    Args:
        facts: What is stored.
        schema: The types that hold.
        origin: Where the updates come from.

    Attributes:
        added: To be written.
        removed: To be removed before.
        replaced: The values that are replaced.
        result: What it amounts to.
    """

    def __init__(self, facts: Facts, schema: Schema, origin: Origin) -> None:
        self._facts = facts
        self._schema = schema
        self._now = datetime.now(UTC)
        self._source = terms.source_term(" ".join(part for part in (origin.document, origin.place) if part))
        self._pending: dict[NamedNode, Node] = {}
        self._edges: set[NamedNode] = set()
        self.added: list[Quad] = []
        self.removed: list[Quad] = []
        self.replaced: list[Replaced] = []
        self._places: list[tuple[str, str]] = []
        self.result = Applied()

    def add(self, update: Update) -> None:
        """Checks one update and gathers what it changes.

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
        """Gathers one triple."""
        self.added.append(Quad(subject, predicate, value, terms.KNOWLEDGE))

    def with_sources(self, sources: Mapping[tuple[str, str], tuple[str, ...]]) -> list[Replaced]:
        """Returns the replaced values with their sources by node and property; by default those of the node."""
        found = zip(self.replaced, self._places, strict=True)
        return [replace(one, source=sources.get(place) or one.source) for one, place in found]

    def _known(self, key: NodeKey) -> Node | None:
        return self._pending.get(terms.node_term(key)) or self._facts.node(key)

    def _add_node(self, update: AddNode) -> None:
        if not update.name.strip():
            raise SchemaError(f"a {update.type} needs a name")
        kind = self._schema.node_type(update.type)
        known = self._known(update.key)
        given = {name: value for name, value in update.properties.items() if value is not None}
        if known is None:
            given = {**_named_by(kind, update.name), **given}
        properties = {**(dict(known.properties) if known else {}), **given}
        self._schema.check_node(update.type, plain_properties(properties))
        written = terms.property_terms(kind, given)
        before = terms.property_terms(kind, known.properties) if known else {}
        for name, term in written.items():
            if name in before and before[name] != term:
                raise SchemaError(
                    f"{update.key} has {name} {before[name].value!r}, not {term.value!r}: SetProperty changes a value"
                )
        label = known.key if known is not None else update.key
        stated = {**{name: before[name] for name in kind.required if name in before}, **written}
        self._write_node(label, kind, stated, known is None, new=len(stated.keys() - before.keys()))
        self._pending[terms.node_term(update.key)] = Node(update.key, properties, kind.version)

    def _write_node(
        self, key: NodeKey, kind: NodeType, written: Mapping[str, Literal], is_new: bool, *, new: int
    ) -> None:
        """Gathers a node's triples, also those that are stored: this source states them too."""
        subject = terms.node_term(key)
        self.insert(subject, terms.RDF_TYPE, terms.type_term(key.type))
        self.insert(subject, terms.LABEL, Literal(key.name))
        if is_new:
            self.insert(subject, terms.VERSION, Literal(kind.version))
            self.insert(subject, terms.ADDED, terms.moment(self._now))
        for name, term in written.items():
            self.insert(subject, terms.property_term(name), term)
        self.insert(subject, terms.DERIVED, self._source)
        self.result = replace(self.result, nodes=self.result.nodes + is_new, properties=self.result.properties + new)

    def _add_edge(self, update: AddEdge) -> None:
        for key in (update.source, update.target):
            if self._known(key) is None:
                raise SchemaError(f"there is no node {key}: add it first")
        schema = self._schema
        schema.check_edge(update.type, update.source.type, update.target.type, update.properties)
        subject = terms.edge_term(update.type, update.source, update.target)
        self.insert(subject, terms.DERIVED, self._source)
        stored = self._facts.about(subject)
        if stored:
            self._restate_edge(update, schema.edge_type(update.type), stored)
        elif subject not in self._edges:
            self._edges.add(subject)
            self._write_edge(update, schema.edge_type(update.type), subject)

    def _restate_edge(self, update: AddEdge, kind: EdgeType, stored: Mapping[NamedNode, list[Any]]) -> None:
        """Gathers the triples of a stored edge: this source states them too."""
        subject = terms.edge_term(update.type, update.source, update.target)
        for predicate, values in stored.items():
            if predicate not in (terms.VERSION, terms.ADDED, terms.DERIVED):
                for value in values:
                    self.insert(subject, predicate, value)
        self._write_ends(update, kind)

    def _write_ends(self, update: AddEdge, kind: EdgeType) -> None:
        source, target = terms.node_term(update.source), terms.node_term(update.target)
        followed = terms.edge_type_term(update.type)
        self.insert(source, followed, target)
        if kind.symmetric:
            self.insert(target, followed, source)

    def _write_edge(self, update: AddEdge, kind: EdgeType, subject: NamedNode) -> None:
        self._write_ends(update, kind)
        self.insert(subject, terms.RDF_TYPE, terms.EDGE_CLASS)
        self.insert(subject, terms.EDGE_TYPE, terms.edge_type_term(update.type))
        self.insert(subject, terms.FROM, terms.node_term(update.source))
        self.insert(subject, terms.TO, terms.node_term(update.target))
        self.insert(subject, terms.VERSION, Literal(kind.version))
        self.insert(subject, terms.ADDED, terms.moment(self._now))
        for name, term in terms.property_terms(kind, update.properties).items():
            self.insert(subject, terms.property_term(name), term)
        self.result = replace(self.result, edges=self.result.edges + 1)

    def _set_property(self, update: SetProperty) -> None:
        known = self._known(update.node)
        if known is None:
            raise SchemaError(f"there is no node {update.node}: add it first")
        kind = self._schema.node_type(update.node.type)
        properties = {**known.properties, update.property: update.value}
        properties = {name: value for name, value in properties.items() if value is not None}
        self._schema.check_node(update.node.type, plain_properties(properties))
        subject, predicate = terms.node_term(update.node), terms.property_term(update.property)
        self.added = [quad for quad in self.added if (quad.subject, quad.predicate) != (subject, predicate)]
        stored = self._facts.about(subject).get(predicate, [])
        self.removed += [Quad(subject, predicate, value, terms.KNOWLEDGE) for value in stored]
        if update.value is not None:
            self.insert(
                subject, predicate, terms.property_terms(kind, {update.property: update.value})[update.property]
            )
        self.insert(subject, terms.DERIVED, self._source)
        before = known.properties.get(update.property)
        if before is not None and before != update.value:
            self.replaced.append(Replaced(str(known.key), update.property, before, known.sources, update.value))
            self._places.append((str(subject), predicate.value))
        self._pending[subject] = replace(known, properties=properties)
        self.result = replace(self.result, properties=self.result.properties + 1)


def _named_by(kind: NodeType, name: str) -> dict[str, str]:
    """The name as the value of the first required property, where that takes any text."""
    if not kind.required:
        return {}
    rule = kind.properties_schema["properties"][kind.required[0]]
    takes_text = rule.get("type") == "string" and not set(rule) & {"enum", "format", "pattern", "const"}
    return {kind.required[0]: name} if takes_text else {}


def plain_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties as JSON Schema knows them: stored figures are decimals, which it does not know."""
    return {name: float(value) if isinstance(value, Decimal) else value for name, value in properties.items()}
