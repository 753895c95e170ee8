"""A graph that grows: typed nodes and edges with their origin, kept in memory or in an Oxigraph database on disk.

    with GrowingGraph("knowledge", investment_schema()) as graph:
        graph.apply([AddNode("Company", "Helixon Inc.", {"country": "USA"})], Origin("wire-17.txt", "lines 2-5"))
        graph.node(NodeKey("Company", "Helixon Inc.")).properties["country"]      # "USA"

An update is checked whole against the schema before any of it is written, and written in one transaction: a program
that is killed leaves either all of it or nothing. The types are in the graph too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from kg.errors import SchemaError
from kg.growing import terms
from kg.growing.change import Applied, Change, Origin, Update
from kg.growing.history import History, HistoryEntry
from kg.growing.schema import Schema
from kg.growing.store import GraphDatabase, Node


class GrowingGraph(GraphDatabase):
    """The graph. Use it as a context manager, or call ``close``. Threads may share it.

    Args:
        path: The database's folder, made if it is not there; ``None`` for a graph in memory.
        schema: The types to begin with, if the graph has none yet.
        read_only: Whether nothing can be written. Many processes may read a graph, or one may write it.

    Attributes:
        read_only: Whether nothing can be written.
        writing: The lock of all changes; take it around what reads the graph and then changes it.

    Raises:
        DataError: The folder is no database, or another process has it open.
    """

    def __init__(
        self, path: str | Path | None = None, schema: Schema | None = None, *, read_only: bool = False
    ) -> None:
        super().__init__(path, read_only=read_only)
        self.writing = threading.RLock()
        self._history = History(self)
        try:
            self._schema = self.types_in(terms.SCHEMA)
            if not self._schema.types and schema is not None:
                if read_only:
                    self._schema = schema
                else:
                    self.change_schema(schema)
        except BaseException:
            self.close()
            raise

    @property
    def schema(self) -> Schema:
        """The types."""
        return self._schema

    def change_schema(self, schema: Schema, proposed: Schema | None = None) -> None:
        """Stores a schema in place of the present one, in one transaction.

        Args:
            schema: The types.
            proposed: The types that wait after the change; by default they stay as they are.

        Raises:
            SchemaError: A type is not in it any more, or a stored node or edge does not fit its changed type.
        """
        names = {kind.name for kind in schema.types}
        with self.writing:
            gone = [kind.name for kind in self._schema.types if kind.name not in names]
            if gone:
                raise SchemaError(f"type {gone[0]!r} must stay: a schema only grows")
            for kind in (kind for kind in schema.types if kind not in self._schema.types):
                self._check_stored(schema, kind.name)
            waiting = {terms.PROPOSED: proposed} if proposed is not None else {}
            self.replace_schemas({terms.SCHEMA: schema, **waiting})
            self._schema = schema

    def _check_stored(self, schema: Schema, kind: str) -> None:
        """Raises SchemaError where a stored node or edge of a type does not fit a schema."""
        try:
            for node in self.nodes_of(kind):
                stored = str(node.key)
                schema.check_node(kind, node.properties)
            for edge in self.edges(kind=kind):
                stored = f"{edge.source} -> {kind} -> {edge.target}"
                schema.check_edge(kind, edge.source.type, edge.target.type, edge.properties)
        except SchemaError as error:
            raise SchemaError(f"{stored} does not fit its changed type: {error}") from error

    @property
    def proposed(self) -> Schema:
        """The types that wait for a person's decision; see :mod:`kg.growing.proposals`."""
        return self.types_in(terms.PROPOSED)

    def change_proposed(self, proposed: Schema) -> None:
        """Stores the types that wait, in place of those that waited, in one transaction."""
        with self.writing:
            self.replace_schemas({terms.PROPOSED: proposed})

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
                entry = change.entry(self._history.next_number(), spans)
                self._history.write([entry], change.removed, change.added)
        return change.result

    def check(self, updates: Sequence[Update]) -> None:
        """Raises SchemaError where :meth:`apply` would; nothing is written."""
        self._checked(updates, Origin("nothing"))

    def _checked(self, updates: Sequence[Update], origin: Origin) -> Change:
        change = Change(self, self._schema, origin)
        for place, update in enumerate(updates):
            try:
                change.add(update)
            except SchemaError as error:
                raise SchemaError(f"update {place} ({type(update).__name__}): {error}") from error
        return change

    def history(self) -> list[HistoryEntry]:
        """Returns the updates that were written, in their order."""
        return list(self._history.entries.values())

    def in_words(self, entry: HistoryEntry) -> str:
        """Returns an entry of the history in one line, with its number, its source and its changes."""
        return self._history.in_words(entry)

    def undo(self, *numbers: int) -> list[HistoryEntry]:
        """Takes updates back in one transaction: their facts go, and the values that they replaced return.

        Facts that another update states too remain.

        Args:
            numbers: The numbers of their entries in the history.

        Returns:
            The entries, which are marked as undone.

        Raises:
            SchemaError: There is no such entry, it was undone before, or its value has changed since.
            BuiltOnError: Later ones build on them.
        """
        with self.writing:
            return self._history.undo(numbers)

    def copy(self) -> GrowingGraph:
        """Returns a copy in memory, whose changes do not reach this graph."""
        made = GrowingGraph()
        made._store.bulk_extend(self._store.quads_for_pattern(None, None, None, None))
        made._schema = self._schema
        return made

    def has_batch(self, batch: str) -> bool:
        """Whether updates of this name were applied."""
        return terms.RDF_TYPE in self.about(terms.batch_term(batch))

    def nodes(self, kind: str | None = None) -> Iterator[Node]:
        """All nodes, or those of a type, type by type, in the order of their names."""
        for name in (own.name for own in self._schema.node_types()) if kind is None else (kind,):
            yield from self.nodes_of(name)

    def facts(self) -> int:
        """Returns the count of facts: nodes, their properties, and edges."""
        return sum(1 + len(node.properties) for node in self.nodes()) + sum(1 for _ in self.edges())
