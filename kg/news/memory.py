"""Facts of news in a growing graph: statements with their sources, names with their aliases, newer over older.

    graph.apply(statement_updates(graph, reading, document), Origin("wire-17.txt"))
    stored_facts(graph)      # the facts of all documents
    directory_of(graph)      # the names, with aliases

A newer statement of a relation with one value at a time supersedes the older one: that gets ``valid_to`` and stays.
Statements of the same day that differ are joined by ``contradicts``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from kg.errors import SchemaError
from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, SetProperty, Update
from kg.investments import NewsDocument, completed_schema, investment_schema, types_of
from kg.news.aliases import STANDS_FOR, known_aliases, names_by_hand, separated, written_aliases
from kg.news.facts import Fact
from kg.news.passages import published_day
from kg.news.reader import NewsReading
from kg.sentences import Directory, frames, plain_name

_TYPES = Path(__file__).with_name("types.json")
_NODE_TYPES = {"company": "Company", "person": "Person", "place": "Place", "product": "Product", "name": "Product"}
_KINDS = {"Company": "company", "Institution": "company", "Person": "person", "Place": "place", "Product": "product"}
_TEXTS = ("role", "company", "direction", "previous", "status", "valid_from", "valid_to")


def add_news_types(graph: GrowingGraph) -> None:
    """Adds the types of statements to a graph that lacks them, and to its types what an earlier version left out."""
    own = types_of(json.loads(_TYPES.read_text(encoding="utf-8")), "system")
    seeds = [kind for kind in investment_schema().types if kind.name in {known.name for known in graph.schema.types}]
    schema = completed_schema(graph.schema, [*seeds, *own])
    if schema is not graph.schema:
        graph.change_schema(schema)


def has_statements(graph: GrowingGraph) -> bool:
    """Whether a graph has the types of statements."""
    return any(kind.name == "Statement" for kind in graph.schema.types)


def directory_of(graph: GrowingGraph) -> Directory:
    """Returns the names of a graph with their aliases."""
    directory = Directory()
    types = {kind.name for kind in graph.schema.types}
    for alias, entity in names_by_hand(graph):  # what a person joined comes before a node of the same name
        directory.add(_KINDS.get(entity.type, "product"), entity.name, [alias])
    for kind in (name for name in _KINDS if name in types):
        for node in graph.nodes(kind):
            ticker = node.properties.get("ticker")
            directory.add(_KINDS[kind], node.key.name, [str(ticker)] if ticker else ())
    for apart, other in separated(graph):
        directory.add(_KINDS.get(other.type, "product"), apart.name)
    for key, other in known_aliases(graph):
        directory.add(_KINDS.get(other.type, "product"), other.name, [key.name])
    for edge in graph.edges(kind="issued_by"):
        directory.add("company", edge.target.name, [edge.source.name])
    return directory


def stored_facts(graph: GrowingGraph) -> list[Fact]:
    """Returns the facts that the statements of a graph hold."""
    if not has_statements(graph):
        return []
    found = []
    for node in graph.nodes("Statement"):
        given = node.properties
        texts = {name: str(given.get(name, "")) for name in _TEXTS}
        found.append(
            Fact(
                str(given["subject"]),
                str(given.get("subject_kind", "company")),
                str(given["relation"]),
                str(given["value"]),
                str(given.get("value_kind", "name")),
                str(given["sentence"]),
                str(given["document"]),
                published_day(node),
                float(given.get("confidence", 1)),
                **texts,
                id=node.key.name,
            )
        )
    return found


def statement_updates(graph: GrowingGraph, reading: NewsReading, document: NewsDocument) -> list[tuple[Update, str]]:
    """Returns the updates that write a reading, each with its sentence.

    Args:
        graph: The graph as it is.
        reading: The facts and names of a document.
        document: The document.
    """
    keys = _keys(graph, reading)
    written = written_aliases(graph)
    updates: list[tuple[Update, str]] = []
    used = {(f.subject_kind, f.subject) for f in reading.facts} | {(f.object_kind, f.object) for f in reading.facts}
    for kind, name, aliases in reading.entities:
        if (kind, name) not in used and kind != "person":
            continue
        updates.append((AddNode(keys[kind, name].type, keys[kind, name].name), ""))
        for alias in aliases:
            if plain_name(alias) != plain_name(name):
                key = written.get((plain_name(alias), keys[kind, name]), NodeKey("Alias", alias))
                updates.append((AddNode("Alias", key.name), ""))
                updates.append((AddEdge(STANDS_FOR, key, keys[kind, name]), ""))
    news = NodeKey("News", document.headline)
    stored = stored_facts(graph)
    for fact in reading.facts:
        updates += [(update, fact.sentence) for update in _statement(fact, news, keys, stored)]
    return updates


def _keys(graph: GrowingGraph, reading: NewsReading) -> dict[tuple[str, str], NodeKey]:
    """Returns the node of each entity; institutions keep their type."""
    institutions = {node.key.name for node in graph.nodes("Institution")}
    keys = {}
    for kind, name, _ in reading.entities:
        keys[kind, name] = NodeKey("Institution" if name in institutions else _NODE_TYPES[kind], name)
    return keys


def _statement(fact: Fact, news: NodeKey, keys: dict[tuple[str, str], NodeKey], stored: list[Fact]) -> Iterator[Update]:
    name = f"{fact} ({fact.document})"
    older = [one for one in stored if _replaceable(fact, one) or _contested(fact, one)]
    newer = [one.published for one in older if one.published > fact.published and _replaces(one, fact)]
    properties: dict[str, object] = {
        "subject": fact.subject,
        "subject_kind": fact.subject_kind,
        "relation": fact.relation,
        "value": fact.object,
        "value_kind": fact.object_kind,
        "sentence": fact.sentence,
        "document": fact.document,
        "published_at": fact.published,
        "confidence": fact.confidence,
        **{key: getattr(fact, key) for key in _TEXTS if getattr(fact, key)},
    }
    if newer:
        properties["valid_to"] = min(newer)
    yield AddNode("Statement", name, properties)
    key = NodeKey("Statement", name)
    yield AddEdge("states", news, key)
    for end, entity in (
        ("has_subject", (fact.subject_kind, fact.subject)),
        ("has_object", (fact.object_kind, fact.object)),
    ):
        if entity in keys:
            yield AddEdge(end, key, keys[entity])
    for one in older:
        other = NodeKey("Statement", one.id)
        if one.published < fact.published and not one.valid_to and _replaces(fact, one):
            yield SetProperty(other, "valid_to", fact.valid_from or fact.published)
            yield AddEdge("supersedes", key, other)
        elif one.published == fact.published:
            yield AddEdge("contradicts", key, other)


def _replaces(newer: Fact, older: Fact) -> bool:
    """Whether a newer fact ends an older one: an uncertain or possible one does not, nor does a plan end what holds."""
    if not newer.is_certain or newer.status == "possible":
        return False
    return newer.status != "pending" or older.status != "" or newer.object_kind in _AMOUNTS


def _replaceable(fact: Fact, other: Fact) -> bool:
    """Whether two facts are values of one relation that has one value at a time."""
    relation = frames().relations.get(fact.relation)
    same = plain_name(fact.subject) == plain_name(other.subject) and fact.relation == other.relation
    return relation is not None and relation.single and same and plain_name(fact.object) != plain_name(other.object)


_AMOUNTS = frozenset(("money", "count", "percent"))


def _contested(fact: Fact, other: Fact) -> bool:
    """Whether two documents of one day give a relation different amounts."""
    same = plain_name(fact.subject) == plain_name(other.subject) and fact.relation == other.relation
    apart = fact.document != other.document and fact.published == other.published
    return same and apart and {fact.object_kind, other.object_kind} <= _AMOUNTS and fact.object != other.object


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
    known = graph.node(update.key) if isinstance(update, AddNode) else None
    if known is None or not isinstance(update, AddNode):
        yield update
        return
    changed = {
        name: value
        for name, value in update.properties.items()
        if value is not None and name in known.properties and _differs(graph, update, name, value)
    }
    yield AddNode(update.type, update.name, {n: v for n, v in update.properties.items() if n not in changed})
    for name, value in changed.items():
        yield SetProperty(update.key, name, value)


def _differs(graph: GrowingGraph, update: AddNode, name: str, value: object) -> bool:
    """Whether the graph refuses a value beside the stored one."""
    try:
        graph.check([AddNode(update.type, update.name, {name: value})])
    except SchemaError:
        return True
    return False
