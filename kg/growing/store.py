"""The database of a growing graph: nodes, edges and types as triples, read as records and written in transactions.

    store = GraphDatabase(Path("knowledge"))
    store.node(NodeKey("Company", "Helixon Inc.")).properties["country"]      # "USA"

It is an Oxigraph store in memory or in a folder, which one process writes or many read. The facts, the types, the
proposed types and the history are four named graphs; queries see the facts alone. Each type is one resource whose
content is JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from pydantic import TypeAdapter
from pyoxigraph import Literal, NamedNode, Quad, Store

from kg.errors import DataError, SchemaError
from kg.files import BusyError, FileLock
from kg.growing import terms
from kg.growing.schema import EdgeType, NodeType, Schema
from kg.growing.terms import NodeKey

LOCK_FILE = "finpath.lock"
"""The file in a graph's folder by which processes take turns."""

About = Mapping[NamedNode, list[Any]]

_CONTENT, _ORDER = (NamedNode(terms.KG + name) for name in ("typeContent", "typeOrder"))
_EDGE_TYPE, _NODE_TYPE = (NamedNode(terms.KG + name) for name in ("EdgeType", "NodeType"))
_CLASSES: Mapping[Any, type[NodeType]] = {_EDGE_TYPE: EdgeType, _NODE_TYPE: NodeType}


@dataclass(frozen=True)
class Node:
    """A node as it is stored.

    Attributes:
        key: Type and name, of several spellings the first by :func:`kg.growing.terms.spelling_order`.
        properties: By name.
        sources: The documents that it comes from, each with the place in it.
    """

    key: NodeKey
    properties: Mapping[str, Any]
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edge:
    """An edge as it is stored."""

    type: str
    source: NodeKey
    target: NodeKey
    properties: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()


class GraphDatabase:
    """The triples of a graph. Use it as a context manager, or call ``close``.

    Args:
        path: The database's folder, made if it is not there; ``None`` for one in memory.
        read_only: Whether nothing can be written. Many processes may read a database, or one may write it.

    Raises:
        DataError: The folder is no database, or another process has it open.
    """

    def __init__(self, path: str | Path | None = None, *, read_only: bool = False) -> None:
        self.read_only = read_only
        self._lock: FileLock | None = None
        try:
            if path is None:
                self._store = Store()
                return
            if not read_only:
                Path(path).mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(Path(path) / LOCK_FILE, shared=read_only, wait=False)
            self._store = Store.read_only(str(path)) if read_only else Store(str(path))
        except (OSError, BusyError) as error:
            self._release()
            raise DataError(f"cannot be opened as a graph: {error}", file=str(path)) from error

    def close(self) -> None:
        """Closes the database, so that it can be opened again; closing again does nothing."""
        if not hasattr(self, "_store"):
            return
        try:
            if not self.read_only:
                self._store.flush()
        except OSError as error:
            raise DataError(f"the graph cannot be written: {error}") from error
        finally:
            del self._store
            self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, quad: Quad) -> bool:
        return quad in self._store

    def quads(
        self, subject: Any = None, predicate: Any = None, value: Any = None, graph: NamedNode = terms.KNOWLEDGE
    ) -> Iterator[Quad]:
        """The triples of a named graph that fit a pattern, in which ``None`` fits everything."""
        return self._store.quads_for_pattern(subject, predicate, value, graph)

    def write(self, removed: Sequence[Quad], added: Sequence[Quad]) -> None:
        """Removes and adds triples by one SPARQL update, which is one transaction.

        Raises:
            SchemaError: The graph was opened to be read.
            DataError: The disk is full; nothing is written.
        """
        parts = [_data("DELETE", removed), _data("INSERT", added)]
        if any(parts):
            if self.read_only:
                raise SchemaError("the graph was opened to be read: nothing can be written")
            try:
                self._store.update(" ;\n".join(filter(None, parts)))
            except OSError as error:
                raise DataError(f"the graph cannot be written: {error}") from error

    def about(self, subject: NamedNode) -> dict[NamedNode, list[Any]]:
        """The values of each property of a resource."""
        values: dict[NamedNode, list[Any]] = {}
        for quad in self.quads(subject):
            values.setdefault(quad.predicate, []).append(quad.object)
        return values

    def node(self, key: NodeKey) -> Node | None:
        """A node, or ``None`` if it is not there."""
        about = self.about(terms.node_term(key))
        return _node(key.type, about) if terms.LABEL in about else None

    def nodes_of(self, kind: str) -> Iterator[Node]:
        """The nodes of a type, in the order of their names."""
        quads = self.quads(None, terms.RDF_TYPE, terms.type_term(kind))
        for subject in sorted(terms.text_of(quad.subject) for quad in quads):
            yield _node(kind, self.about(NamedNode(subject)))

    def edges(self, key: NodeKey | None = None, *, kind: str | None = None) -> Iterator[Edge]:
        """All edges, those from or to a node, or those of a type."""
        if key is not None:
            patterns = [(end, terms.node_term(key)) for end in (terms.FROM, terms.TO)]
        elif kind is not None:
            patterns = [(terms.EDGE_TYPE, terms.edge_type_term(kind))]
        else:
            patterns = [(terms.RDF_TYPE, terms.EDGE_CLASS)]
        subjects = {terms.text_of(quad.subject) for pattern in patterns for quad in self.quads(None, *pattern)}
        edges = (self._edge(NamedNode(subject)) for subject in sorted(subjects))
        return (edge for edge in edges if kind in (None, edge.type))

    def _edge(self, subject: NamedNode) -> Edge:
        about = self.about(subject)
        source, target = (self._key_of(about[end][0]) for end in (terms.FROM, terms.TO))
        kind = terms.text_of(about[terms.EDGE_TYPE][0]).removeprefix(terms.EDGE)
        return Edge(kind, source, target, _properties(about), _sources(about))

    def _key_of(self, term: NamedNode) -> NodeKey:
        label = terms.text_of(self.about(term)[terms.LABEL][0])
        return NodeKey(term.value.removeprefix(terms.NODE).partition("/")[0], label)

    def types_in(self, graph: NamedNode) -> Schema:
        """The types that a named graph holds, in the order in which they were made."""
        made = {quad.subject: _CLASSES[quad.object] for quad in self.quads(None, terms.RDF_TYPE, graph=graph)}
        orders = sorted(self.quads(None, _ORDER, graph=graph), key=lambda quad: int(terms.text_of(quad.object)))
        contents = {quad.subject: terms.text_of(quad.object) for quad in self.quads(None, _CONTENT, graph=graph)}
        types = (TypeAdapter(made[one.subject]).validate_json(contents[one.subject]) for one in orders)
        return Schema(tuple({kind.name: kind for kind in types}.values()))

    def replace_schemas(self, schemas: Mapping[NamedNode, Schema]) -> None:
        """Writes the types of some named graphs in place of the present ones, in one transaction."""
        removed = [quad for graph in schemas for quad in self.quads(graph=graph)]
        pairs = ((graph, schema) for graph, schema in schemas.items())
        self.write(removed, [quad for graph, schema in pairs for quad in _schema_quads(schema, graph)])


def _data(verb: str, quads: Sequence[Quad]) -> str:
    lines = "\n".join(f"GRAPH {q.graph_name} {{ {q.subject} {q.predicate} {q.object} }}" for q in quads)
    return f"{verb} DATA {{\n{lines}\n}}" if quads else ""


def _schema_quads(schema: Schema, graph: NamedNode) -> Iterator[Quad]:
    for order, kind in enumerate(schema.types):
        subject = terms.type_record_term(kind.name)
        content = json.dumps(asdict(kind), ensure_ascii=False, sort_keys=True)
        yield Quad(subject, terms.RDF_TYPE, _EDGE_TYPE if isinstance(kind, EdgeType) else _NODE_TYPE, graph)
        yield Quad(subject, _ORDER, Literal(order), graph)
        yield Quad(subject, _CONTENT, Literal(content, datatype=terms.JSON), graph)


def _node(kind: str, about: About) -> Node:
    key = NodeKey(kind, terms.text_of(about[terms.LABEL][0]))
    return Node(key, _properties(about), _sources(about))


def _properties(about: About) -> dict[str, Any]:
    return {name: terms.json_value(term) for name, term in terms.properties_of(about).items()}


def _sources(about: About) -> tuple[str, ...]:
    documents = (terms.text_of(term).removeprefix(terms.SOURCE) for term in about.get(terms.DERIVED, ()))
    return tuple(sorted(map(unquote, documents)))
