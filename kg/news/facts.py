"""Facts that documents state, as statements of a growing graph: each with its sentence.

    graph.apply([update for update, _ in fact_updates(facts, document)], Origin("wire-17.txt"))
    stored_facts(graph)      # Fact("Orvane Semiconductor", "company", "acquires", "Brightlane Photonics", ...)

``relations.json`` has the relations, each with the kinds of its subjects and objects.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from kg.errors import SchemaError
from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, SetProperty, Update
from kg.investments import types_of
from kg.news.documents import NewsDocument, published_day
from kg.news.values import plain_name

NAME_KINDS = ("company", "person", "place", "product", "name")
"""Kinds of names; the others are of amounts, days and titles."""

STANDS_FOR = "alias_of"
"""The edge from another name to an entity."""

_FOLDER = Path(__file__).parent
_NODE_TYPES = {"company": "Company", "person": "Person", "place": "Place", "product": "Product", "name": "Product"}
_KINDS = {"Company": "company", "Institution": "company", "Person": "person", "Place": "place", "Product": "product"}


class FactRelation(BaseModel):
    """A relation between two things of a document.

    Attributes:
        subject: The kinds of its subjects.
        object: The kinds of its objects.
        property: The property of the subject that has the object too.
        edge: The edge from the subject to a node of ``type`` with the name of the object.
        type: See ``edge``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: tuple[str, ...]
    object: tuple[str, ...]
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
    """A fact, as the properties of a statement.

    Attributes:
        subject: The name of its subject.
        subject_kind: company, person, place, product or name.
        relation: One of :func:`relations`, or words of the sentence.
        value: A name, an amount, a day or a title.
        value_kind: The kind of the value.
        sentence: The sentence that states it.
        document: The document.
        published_at: The document's day, ``2026-11-22``.
        confidence: In (0, 1].
    """

    subject: str
    subject_kind: str
    relation: str
    value: str
    value_kind: str
    sentence: str
    document: str
    published_at: str
    confidence: float = 0.9

    @property
    def key(self) -> NodeKey:
        """The node of its statement."""
        return NodeKey("Statement", f"{self.subject} -> {self.relation} -> {self.value} ({self.document})")


def add_news_types(graph: GrowingGraph) -> None:
    """Adds the types of statements to a graph that lacks them."""
    schema, known = graph.schema, {kind.name for kind in graph.schema.types}
    for kind in types_of(json.loads((_FOLDER / "types.json").read_text(encoding="utf-8")), "system"):
        schema = schema.with_type(kind) if kind.name not in known else schema
    if schema is not graph.schema:
        graph.change_schema(schema)


def known_aliases(graph: GrowingGraph) -> list[tuple[NodeKey, NodeKey]]:
    """Returns the names with the entities that they stand for."""
    return sorted(((edge.source, edge.target) for edge in graph.edges(kind=STANDS_FOR)), key=str)


def known_companies(graph: GrowingGraph) -> dict[str, tuple[str, ...]]:
    """Returns the companies of a graph with their other names and symbols."""
    others: defaultdict[NodeKey, list[str]] = defaultdict(list)
    for edge in graph.edges(kind="issued_by"):
        others[edge.target].append(edge.source.name)
    for alias, entity in known_aliases(graph):
        others[entity].append(alias.name)
    return {node.key.name: tuple(dict.fromkeys(others[node.key])) for node in graph.nodes("Company")}


def known_names(graph: GrowingGraph) -> dict[str, tuple[str, str]]:
    """Returns the kind and the full name of what each name of a graph stands for, by its plain form."""
    names: dict[str, tuple[str, str]] = {}

    def add(name: str, entity: NodeKey) -> None:
        names.setdefault(plain_name(name), (_KINDS.get(entity.type, "product"), entity.name))

    for node in (node for kind in _KINDS for node in graph.nodes(kind)):
        add(node.key.name, node.key)
        if "ticker" in node.properties:
            add(str(node.properties["ticker"]), node.key)
    for key, other in known_aliases(graph):
        add(key.name, other)
    return names


def stored_facts(graph: GrowingGraph) -> list[Fact]:
    """Returns the facts that the statements of a graph hold."""
    names = [field.name for field in fields(Fact)]
    return [
        Fact(**{name: given[name] for name in names if name in given} | {"published_at": published_day(node)})
        for node in graph.nodes("Statement")
        for given in [node.properties]
    ]


def fact_updates(facts: Sequence[Fact], document: NewsDocument) -> Iterator[tuple[Update, str]]:
    """Yields the updates that write the facts of a document, each with its sentence.

    Args:
        facts: The facts.
        document: The document.
    """
    news = NodeKey("News", document.headline)
    for fact in facts:
        rule = relations().get(fact.relation, FactRelation(subject=(), object=()))
        ends = {"has_subject": (fact.subject_kind, fact.subject), "has_object": (fact.value_kind, fact.value)}
        if rule.edge or fact.relation == "also_called":
            del ends["has_object"]  # a node of its own type, below
        keys = {end: NodeKey(_NODE_TYPES[kind], name) for end, (kind, name) in ends.items() if kind in _NODE_TYPES}
        updates: list[Update] = [AddNode(key.type, key.name) for key in keys.values()]
        updates += [AddNode(fact.key.type, fact.key.name, asdict(fact)), AddEdge("states", news, fact.key)]
        updates += [AddEdge(end, fact.key, key) for end, key in keys.items()]
        if "has_subject" in keys:
            updates += _own_updates(fact, rule, keys["has_subject"])
        yield from ((update, fact.sentence) for update in updates)


def _own_updates(fact: Fact, rule: FactRelation, subject: NodeKey) -> Iterator[Update]:
    """Yields what a fact means for the types of the graph beside its statement: a ticker is an instrument."""
    if fact.relation == "ticker":
        yield AddNode(subject.type, subject.name, {"ticker": fact.value})
        yield AddNode("Asset", fact.value, {"symbol": fact.value})
        yield AddEdge("issued_by", NodeKey("Asset", fact.value), subject)
    elif fact.relation == "also_called":
        yield AddNode("Alias", fact.value)
        yield AddEdge(STANDS_FOR, NodeKey("Alias", fact.value), subject)
    elif rule.property:
        yield AddNode(subject.type, subject.name, {rule.property: fact.value})
    elif rule.edge:
        yield AddNode(rule.type, fact.value)
        yield AddEdge(rule.edge, subject, NodeKey(rule.type, fact.value))


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
