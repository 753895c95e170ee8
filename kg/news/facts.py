"""Facts that documents state, as statements of a growing graph: each with its sentence, newer over older.

    graph.apply([update for update, _ in fact_updates(graph, facts, document)], Origin("wire-17.txt"))
    stored_facts(graph)      # Fact("Orvane Semiconductor", "company", "acquires", "Brightlane Photonics", ...)

``relations.json`` has the relations, each with the kinds of its subjects and objects. A newer statement of a relation
with one value at a time supersedes the older one: that gets ``valid_to`` and stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from kg.errors import SchemaError
from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, SetProperty, Update
from kg.investments import types_of
from kg.news.aliases import STANDS_FOR, alias_key, known_aliases, names_by_hand
from kg.news.documents import NewsDocument
from kg.news.names import plain_name
from kg.news.passages import published_day

NAME_KINDS = ("company", "person", "place", "product", "name")
"""Kinds of names; the others are of amounts, days and titles."""

_FOLDER = Path(__file__).parent
_NODE_TYPES = {"company": "Company", "person": "Person", "place": "Place", "product": "Product", "name": "Product"}
_KINDS = {"Company": "company", "Institution": "company", "Person": "person", "Place": "place", "Product": "product"}


class FactRelation(BaseModel):
    """A relation between two things of a document.

    Attributes:
        subject: The kinds of its subjects.
        object: The kinds of its objects.
        single: Whether a subject has one value at a time.
        property: The property of the subject that has the object too.
        edge: The edge from the subject to a node of ``type`` with the name of the object.
        type: See ``edge``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: tuple[str, ...]
    object: tuple[str, ...]
    single: bool = False
    property: str = ""
    edge: str = ""
    type: str = ""


@cache
def relations() -> dict[str, FactRelation]:
    """Returns the relations by name."""
    content = json.loads((_FOLDER / "relations.json").read_text(encoding="utf-8"))
    return {name: FactRelation.model_validate(one) for name, one in content.items()}


@dataclass(frozen=True)
class Fact:
    """A fact.

    Attributes:
        subject: The name of its subject.
        subject_kind: company, person, place, product or name.
        relation: One of :func:`relations`, or words of the sentence.
        object: A name, an amount, a day or a title.
        object_kind: The kind of the object.
        sentence: The sentence that states it.
        document: The document.
        published: The document's day, ``2026-11-22``.
        confidence: In (0, 1].
        valid_to: The last day, set where a newer source supersedes it.
        id: Its name in the graph.
    """

    subject: str
    subject_kind: str
    relation: str
    object: str
    object_kind: str
    sentence: str
    document: str
    published: str
    confidence: float = 0.9
    valid_to: str = ""
    id: str = ""

    def __str__(self) -> str:
        return f"{self.subject} -> {self.relation} -> {self.object}"


def add_news_types(graph: GrowingGraph) -> None:
    """Adds the types of statements to a graph that lacks them."""
    schema, known = graph.schema, {kind.name for kind in graph.schema.types}
    for kind in types_of(json.loads((_FOLDER / "types.json").read_text(encoding="utf-8")), "system"):
        schema = schema.with_type(kind) if kind.name not in known else schema
    if schema is not graph.schema:
        graph.change_schema(schema)


def known_names(graph: GrowingGraph) -> dict[str, tuple[str, str]]:
    """Returns the kind and the full name of what each name of a graph stands for, by its plain form."""
    names: dict[str, tuple[str, str]] = {}
    types = {kind.name for kind in graph.schema.types}

    def add(name: str, entity: NodeKey) -> None:
        names.setdefault(plain_name(name), (_KINDS.get(entity.type, "product"), entity.name))

    for alias, entity in names_by_hand(graph):  # what a person joined comes before a node of the same name
        add(alias, entity)
    for node in (node for kind in _KINDS if kind in types for node in graph.nodes(kind)):
        add(node.key.name, node.key)
        if "ticker" in node.properties:
            add(str(node.properties["ticker"]), node.key)
    for key, other in known_aliases(graph):
        add(key.name, other)
    return names


def stored_facts(graph: GrowingGraph) -> list[Fact]:
    """Returns the facts that the statements of a graph hold."""
    if all(kind.name != "Statement" for kind in graph.schema.types):
        return []
    return [
        Fact(
            str(node.properties["subject"]),
            str(node.properties.get("subject_kind", "company")),
            str(node.properties["relation"]),
            str(node.properties["value"]),
            str(node.properties.get("value_kind", "name")),
            str(node.properties["sentence"]),
            str(node.properties["document"]),
            published_day(node),
            float(node.properties.get("confidence", 1)),
            str(node.properties.get("valid_to", "")),
            node.key.name,
        )
        for node in graph.nodes("Statement")
    ]


def fact_updates(graph: GrowingGraph, facts: Sequence[Fact], document: NewsDocument) -> Iterator[tuple[Update, str]]:
    """Yields the updates that write the facts of a document, each with its sentence.

    Args:
        graph: The graph as it is.
        facts: The facts.
        document: The document.
    """
    institutions = {node.key.name for node in graph.nodes("Institution")}
    stored = stored_facts(graph)

    def entity(kind: str, name: str) -> NodeKey | None:
        if kind not in _NODE_TYPES:
            return None
        return NodeKey("Institution" if name in institutions else _NODE_TYPES[kind], name)

    for fact in facts:
        rule = relations().get(fact.relation)
        has_own_node = fact.relation == "also_called" or (rule is not None and rule.edge != "")
        subject = entity(fact.subject_kind, fact.subject)
        value = entity(fact.object_kind, fact.object) if not has_own_node else None
        updates: list[Update] = [AddNode(key.type, key.name) for key in (subject, value) if key is not None]
        updates += _statement(fact, NodeKey("News", document.headline), (subject, value), stored)
        if subject is not None:
            updates += _own_updates(graph, fact, subject)
        yield from ((update, fact.sentence) for update in updates)


def _own_updates(graph: GrowingGraph, fact: Fact, subject: NodeKey) -> Iterator[Update]:
    """Yields what a fact means for the types of the graph beside its statement: a ticker is an instrument."""
    rule = relations().get(fact.relation)
    if fact.relation == "ticker":
        known = graph.node(subject)
        if known is None or "ticker" not in known.properties:
            yield AddNode(subject.type, subject.name, {"ticker": fact.object})
        yield AddNode("Asset", fact.object, {"symbol": fact.object})
        yield AddEdge("issued_by", NodeKey("Asset", fact.object), subject)
    elif fact.relation == "also_called" and plain_name(fact.object) != plain_name(fact.subject):
        key = alias_key(graph, fact.object, subject)
        yield AddNode("Alias", key.name)
        yield AddEdge(STANDS_FOR, key, subject)
    elif rule is not None and rule.property:
        yield AddNode(subject.type, subject.name, {rule.property: fact.object})
    elif rule is not None and rule.edge and subject.type == "Company":
        yield AddNode(rule.type, fact.object)
        yield AddEdge(rule.edge, subject, NodeKey(rule.type, fact.object))


def _statement(
    fact: Fact, news: NodeKey, ends: tuple[NodeKey | None, NodeKey | None], stored: Sequence[Fact]
) -> Iterator[Update]:
    older = [one for one in stored if _replaces(fact, one)]
    newer = [one.published for one in older if one.published > fact.published]
    names = {"object": "value", "object_kind": "value_kind", "published": "published_at"}
    given = {names.get(one.name, one.name): getattr(fact, one.name) for one in fields(fact)}
    properties = {name: value for name, value in given.items() if name != "id" and value != ""}
    if newer:
        properties["valid_to"] = min(newer)
    key = NodeKey("Statement", f"{fact} ({fact.document})")
    yield AddNode(key.type, key.name, properties)
    yield AddEdge("states", news, key)
    for edge, entity in zip(("has_subject", "has_object"), ends, strict=True):
        if entity is not None:
            yield AddEdge(edge, key, entity)
    for one in older:
        other = NodeKey("Statement", one.id)
        if one.published < fact.published and not one.valid_to:
            yield SetProperty(other, "valid_to", fact.published)
            yield AddEdge("supersedes", key, other)


def _replaces(fact: Fact, other: Fact) -> bool:
    """Whether two facts are different values of one relation that has one value at a time."""
    rule = relations().get(fact.relation)
    is_single = rule is not None and rule.single and fact.relation == other.relation
    same = plain_name(fact.subject) == plain_name(other.subject)
    return is_single and same and plain_name(fact.object) != plain_name(other.object)


def applicable(graph: GrowingGraph, updates: list[tuple[Update, str]]) -> tuple[list[tuple[Update, str]], list[str]]:
    """Returns the updates that the graph takes, and the reasons why the others are left out.

    A value that differs from the stored one replaces it, as the newer source has it; the history keeps the older one.
    """
    try:
        graph.check([update for update, _ in updates])
        return updates, []
    except SchemaError:
        pass
    kept: list[tuple[Update, str]] = []
    problems: list[str] = []
    for update, span in updates:
        for one in _with_changes(graph, update):
            try:
                graph.check([*(before for before, _ in kept), one])
                kept.append((one, span))
            except SchemaError as error:
                problems.append(str(error))
    return kept, problems


def _with_changes(graph: GrowingGraph, update: Update) -> Iterator[Update]:
    """Yields an update with the values that differ from the stored ones as changes of them."""
    known = graph.node(update.key) if isinstance(update, AddNode) else None
    if known is None or not isinstance(update, AddNode):
        yield update
        return
    changed = {
        name: value
        for name, value in update.properties.items()
        if value is not None and name in known.properties and known.properties[name] != value
    }
    yield AddNode(update.type, update.name, {n: v for n, v in update.properties.items() if n not in changed})
    for name, value in changed.items():
        yield SetProperty(update.key, name, value)
