"""A graph that grows: typed nodes and edges with their origin, kept in memory or in an Oxigraph database on disk.

    with GrowingGraph("knowledge", investment_schema()) as graph:
        graph.apply([AddNode("Company", "Helixon Inc.", {"country": "USA"})], Origin("wire-17.txt", "lines 2-5"))
        graph.query("SELECT ?name WHERE { ?c a type:Company ; rdfs:label ?name }").rows

An update is checked whole against the schema before any of it is written, and written in one transaction: a program
that is killed leaves either all of it or nothing. Types lie in the graph beside the facts, with all their versions.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from pyoxigraph import Literal, NamedNode, Quad, Store

from kg.errors import DataError, SchemaError
from kg.growing import terms
from kg.growing.change import Applied, Change, Origin, plain_properties
from kg.growing.facts import Edge, Facts, Node
from kg.growing.history import History, HistoryEntry, entry_quad, line
from kg.growing.query import IsolatedReader, QueryLimits, QueryResult
from kg.growing.schema import EdgeType, Schema
from kg.growing.schema_store import load_schema, schema_quads
from kg.growing.updates import NodeKey, Update
from kg.locks import BusyError, FileLock

LOCK_FILE = "finpath.lock"
"""The file in a graph's folder by which processes take turns."""

USUAL_LIMITS = QueryLimits()
"""The default limits of a query."""


class GrowingGraph:
    """The graph. Use it as a context manager, or call ``close``. Threads may share it.

    Args:
        path: The database's folder, made if it is not there; ``None`` for a graph in memory.
        schema: The types to begin with, if the graph has none yet.
        read_only: Whether nothing can be written. Many processes may read a graph, or one may write it.

    Attributes:
        writing: The lock of all changes; take it around what reads the graph and then changes it.

    Raises:
        DataError: The folder is no database, or another process has it open.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        schema: Schema | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        self.writing = threading.RLock()
        self._read_only = read_only
        self._lock: FileLock | None = None
        try:
            self._store = Store() if path is None else self._opened(Path(path), read_only)
        except (OSError, BusyError) as error:
            self._release()
            raise DataError(f"cannot be opened as a graph: {error}", file=str(path)) from error
        self._facts = Facts(self._store)
        self._reader = IsolatedReader(self._dump)
        self._history = History(self._store)
        try:
            self._schema = load_schema(self._store)
            if not self._schema.types and schema is not None:
                if read_only:
                    self._schema = schema
                else:
                    self.change_schema(schema)
        except BaseException:
            self.close()
            raise

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self._read_only

    @property
    def schema(self) -> Schema:
        """The types that hold now, with their older versions."""
        return self._schema

    def change_schema(self, schema: Schema, proposed: Schema | None = None) -> None:
        """Stores a schema in place of the one that holds, in one transaction.

        Args:
            schema: The types.
            proposed: The types that wait after the change; by default they stay as they are.

        Raises:
            SchemaError: A version of a type is not in it any more: a schema only grows.
        """
        kept = {(kind.name, kind.version) for kind in schema.types}
        with self.writing:
            gone = [kind for kind in self._schema.types if (kind.name, kind.version) not in kept]
            if gone:
                raise SchemaError(f"type {gone[0].name!r} (version {gone[0].version}) must stay: a schema only grows")
            changed = {terms.SCHEMA: schema}
            self._replace(changed if proposed is None else {**changed, terms.PROPOSED: proposed})
            self._schema = schema

    @property
    def proposed(self) -> Schema:
        """The types that wait for a person's word; see :mod:`kg.growing.proposals`."""
        return load_schema(self._store, terms.PROPOSED)

    def change_proposed(self, proposed: Schema) -> None:
        """Stores the types that wait, in place of those that waited, in one transaction."""
        self._replace({terms.PROPOSED: proposed})

    def apply(
        self, updates: Sequence[Update], origin: Origin, *, batch: str | None = None, spans: Sequence[str] = ()
    ) -> Applied:
        """Checks updates and writes all of them in one transaction, or none.

        The same transaction writes an entry of the history, by which :meth:`undo` takes the updates back.

        Args:
            updates: In order; an edge may lead to a node that is added before it.
            origin: Where the facts come from; it is stored with each.
            batch: A name under which :meth:`has_batch` knows that these updates were applied.
            spans: For each update the passage of its source that states it.

        Raises:
            SchemaError: An update breaks the schema, contradicts what is stored, or names a node that is not there.
        """
        with self.writing:
            change = self._checked(updates, origin)
            if batch is not None:
                change.insert(terms.batch_term(batch), terms.RDF_TYPE, terms.BATCH_CLASS)
            if change.added or change.removed:
                entry = self._entry(change, origin, spans)
                self._write(change.removed, [*change.added, entry_quad(entry)])
                self._history.written(entry)
        return change.result

    def history(self, node: NodeKey | None = None) -> list[HistoryEntry]:
        """Returns the updates that were written, or those about a node, in their order."""
        return self._history.entries() if node is None else self._history.about(terms.node_term(node))

    def in_words(self, entry: HistoryEntry) -> str:
        """Returns an entry of the history in one line, with its number, its source and its changes."""
        return self._history.in_words(entry)

    def undo(self, number: int) -> HistoryEntry:
        """Takes an update back in one transaction: its facts go, and the values that it replaced return.

        Facts that another update states too remain.

        Args:
            number: The number of its entry in the history.

        Raises:
            SchemaError: There is no such entry, it was undone before, or its value has changed since.
            BuiltOnError: A later one builds on it.
        """
        with self.writing:
            removed, added = self._history.reverted(number)
            self._write(removed, added)
        return next(entry for entry in self._history.entries() if entry.number == number)

    def copy(self) -> GrowingGraph:
        """Returns a copy in memory, whose changes do not reach this graph."""
        made = GrowingGraph()
        made._store.bulk_extend(self._store.quads_for_pattern(None, None, None, None))
        made._schema, made._history = self._schema, History(made._store)
        return made

    def check(self, updates: Sequence[Update]) -> None:
        """Raises SchemaError where :meth:`apply` would; nothing is written."""
        self._checked(updates, Origin("nothing"))

    def has_batch(self, batch: str) -> bool:
        """Whether updates of this name were applied."""
        return self._facts.has_batch(batch)

    def node(self, key: NodeKey) -> Node | None:
        """A node, or ``None`` if it is not there."""
        return self._facts.node(key)

    def nodes(self, kind: str | None = None) -> Iterator[Node]:
        """All nodes, or those of a type, type by type, in the order of their names."""
        known = dict.fromkeys(found.name for found in self._schema.types if not isinstance(found, EdgeType))
        return self._facts.nodes(known if kind is None else [kind])

    def edges(self, key: NodeKey | None = None, *, kind: str | None = None) -> Iterator[Edge]:
        """All edges, those from or to a node, or those of a type."""
        found = self._facts.edges(key, kind if key is None else None)
        return (edge for edge in found if kind in (None, edge.type))

    def triples(self) -> Iterator[tuple[str, str, str]]:
        """Yields all triples of the facts as stored, with IRIs and literals as texts."""
        for quad in self._store.quads_for_pattern(None, None, None, terms.KNOWLEDGE):
            yield terms.text_of(quad.subject), terms.text_of(quad.predicate), terms.text_of(quad.object)

    def facts(self) -> int:
        """Returns the count of facts: nodes, their properties, and edges."""
        return sum(1 + len(node.properties) for node in self.nodes()) + sum(1 for _ in self.edges())

    def migrate(self) -> dict[NodeKey, str]:
        """Gives each node of an older version of its type the newest version, if that allows it, in one transaction.

        Returns:
            The nodes that keep their version, each with what its properties break of the newest one.
        """
        removed, added, problems = [], [], {}
        with self.writing:
            for node in self.nodes():
                newest = self._schema.node_type(node.key.type).version
                if node.version >= newest:
                    continue
                try:
                    self._schema.check_node(node.key.type, plain_properties(node.properties))
                except SchemaError as error:
                    problems[node.key] = str(error)
                    continue
                subject = terms.node_term(node.key)
                removed.append(Quad(subject, terms.VERSION, Literal(node.version), terms.KNOWLEDGE))
                added.append(Quad(subject, terms.VERSION, Literal(newest), terms.KNOWLEDGE))
            self._write(removed, added)
        return problems

    def query(self, sparql: str, limits: QueryLimits = USUAL_LIMITS) -> QueryResult:
        """The rows of a reading query, run where it can neither write, nor reach out, nor outlive its time.

        The prefixes of :data:`kg.growing.terms.PREFIXES` need not be declared.

        Raises:
            QueryError: It is no SELECT or ASK, breaks the grammar, uses SERVICE, or takes too long.
        """
        return self._reader.query(sparql, limits)

    def matched(self, sparql: str, found: QueryResult, limits: QueryLimits) -> list[tuple[str, str, str]]:
        """Returns the triples of a query's pattern that led to its rows, with IRIs and literals as texts.

        Raises:
            QueryError: As :meth:`query` does.
        """
        return self._reader.matched(sparql, found, limits)

    def close(self) -> None:
        """Closes the database, so that it can be opened again; closing again does nothing."""
        if not hasattr(self, "_store"):
            return
        self._reader.close()
        try:
            if not self._read_only:
                self._store.flush()
        finally:
            del self._store, self._facts, self._history
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _opened(self, path: Path, read_only: bool) -> Store:
        if not read_only:
            path.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(path / LOCK_FILE, shared=read_only, wait=False)
        return Store.read_only(str(path)) if read_only else Store(str(path))

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _entry(self, change: Change, origin: Origin, spans: Sequence[str]) -> HistoryEntry:
        """Returns the history's entry of a change."""
        stated = [quad for quad in dict.fromkeys(change.added) if quad.predicate not in (terms.VERSION, terms.ADDED)]
        gone = [quad for quad in dict.fromkeys(change.removed) if quad not in change.added]
        sources = self._history.sources_of(gone)
        by_property = {(str(quad.subject), quad.predicate.value): sources.get(line(quad), ()) for quad in gone}
        return HistoryEntry(
            self._history.next_number(),
            origin.document,
            origin.place,
            datetime.now(UTC).isoformat(timespec="seconds"),
            tuple(spans),
            tuple(change.with_sources(by_property)),
            tuple(map(line, stated)),
            tuple(line(quad) for quad in stated if quad not in self._store),
            tuple(map(line, gone)),
        )

    def _checked(self, updates: Sequence[Update], origin: Origin) -> Change:
        change = Change(self._facts, self._schema, origin)
        for place, update in enumerate(updates):
            try:
                change.add(update)
            except SchemaError as error:
                raise SchemaError(f"update {place} ({type(update).__name__}): {error}") from error
        return change

    def _replace(self, schemas: Mapping[NamedNode, Schema]) -> None:
        new = [quad for name, schema in schemas.items() for quad in schema_quads(schema, name)]
        with self.writing:
            self._write(
                [quad for name in schemas for quad in self._store.quads_for_pattern(None, None, None, name)], new
            )

    def _dump(self) -> str:
        quads = self._store.quads_for_pattern(None, None, None, terms.KNOWLEDGE)
        return "".join(f"{quad.subject} {quad.predicate} {quad.object} .\n" for quad in quads)

    def _write(self, removed: Sequence[Quad], added: Sequence[Quad]) -> None:
        """Removes and adds triples by one SPARQL update, which is one transaction."""
        parts = [_data("DELETE", removed), _data("INSERT", added)]
        if any(parts):
            if self._read_only:
                raise SchemaError("the graph was opened to be read: nothing can be written")
            self._store.update(" ;\n".join(filter(None, parts)))
            self._reader.close()  # its copy is out of date


def _data(verb: str, quads: Sequence[Quad]) -> str:
    if not quads:
        return ""
    lines = "\n".join(f"GRAPH {q.graph_name} {{ {q.subject} {q.predicate} {q.object} }}" for q in quads)
    return f"{verb} DATA {{\n{lines}\n}}"
