"""Stores of named graphs in memory, in an embedded database, or at a SPARQL 1.1 endpoint.

    >>> with MemoryStore() as store:
    ...     store.put_graph("https://example.org/countries", graph)
    ...     store.triples()
    52

``put_graph`` replaces a named graph in one transaction, so a failed call leaves the graph as it was. Oxigraph runs one
SPARQL update as one transaction. An endpoint gets one update request, which SPARQL 1.1 defines as atomic (Oxigraph and
Fuseki comply).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

import pyoxigraph
from rdflib import Dataset, Graph, URIRef

from kg.errors import ConfigError, DataError, QueryError
from kg.graphs.rdf import is_parse_error, ntriples

Row = tuple[Any, ...]
Text = tuple[str | None, ...]
_PARSER = Lock()
"""A lock, as rdflib's parser of SPARQL has module-level state."""

_IRI = re.compile(r"[^\x00-\x20<>\"{}|^`\\]+")


class _Dataset(Dataset):
    """An rdflib data set without the deprecation warnings of its own ``query``."""

    @property
    def default_context(self) -> Any:
        return self.default_graph

    @default_context.setter
    def default_context(self, graph: Any) -> None:
        self.default_graph = graph

    def contexts(self, triple: Any = None) -> Any:
        return self.graphs(triple)


class GraphStore(ABC):
    """A store of named graphs. Use it as a context manager, or call ``close``."""

    def put_graph(self, name: str, graph: Graph) -> None:
        """Stores or replaces the graph of a name in one transaction."""
        self._replace(_checked(name), graph)

    def remove_graph(self, name: str) -> None:
        """Removes the graph of a name, if it is stored."""
        self._replace(_checked(name), Graph())

    def triples(self) -> int:
        """The number of stored triples."""
        return int(self.select("SELECT (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } }")[0][0])

    @abstractmethod
    def select(self, query: str) -> list[Row]:
        """The rows of a SPARQL SELECT as rdflib terms, ``None`` if unbound.

        Raises:
            QueryError: The query cannot be parsed.
            DataError: The store cannot be reached or read.
        """

    def texts(self, query: str) -> list[Text]:
        """The rows of a SPARQL SELECT as text of IRIs and literals, ``None`` if unbound.

        Raises:
            QueryError: The query cannot be parsed.
            DataError: The store cannot be reached or read.
        """
        return [tuple(None if term is None else str(term) for term in row) for row in self.select(query)]

    @abstractmethod
    def _replace(self, name: str, graph: Graph) -> None:
        """Replaces the triples of a named graph in one transaction."""

    def close(self) -> None:  # noqa: B027 - some stores have nothing to release
        """Closes the store; a persistent store can then be opened again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class MemoryStore(GraphStore):
    """A store in memory, for a few reports."""

    def __init__(self) -> None:
        self._dataset = _Dataset()

    def select(self, query: str) -> list[Row]:
        """See :meth:`GraphStore.select`; calls from several threads run one after another."""
        with _PARSER:
            return _rows(self._dataset, query)

    def _replace(self, name: str, graph: Graph) -> None:
        triples = list(graph)  # a failure to read leaves the old graph unchanged
        target = self._dataset.graph(URIRef(name))
        target.remove((None, None, None))
        for triple in triples:
            target.add(triple)
        if not triples:
            self._dataset.remove_graph(target)


class PersistentStore(GraphStore):
    """A store in an Oxigraph database, for a corpus of reports.

    Args:
        path: The folder, created if missing.

    Raises:
        DataError: The folder is no database, or another process uses it.
    """

    def __init__(self, path: str | Path) -> None:
        from oxrdflib import OxigraphStore  # imports SPARQL's parser

        Path(path).parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = pyoxigraph.Store(str(path))
        except OSError as error:
            raise DataError(f"cannot be opened as a database: {error}", file=str(path)) from error
        self._dataset = _Dataset(store=OxigraphStore(store=self._database))

    def select(self, query: str) -> list[Row]:
        """See :meth:`GraphStore.select`."""
        return _rows(self._dataset, query)

    def texts(self, query: str) -> list[Text]:
        """See :meth:`GraphStore.texts`; without rdflib's terms, which are slower than the query."""
        with _reading():
            found = self._database.query(query)
            if not isinstance(found, pyoxigraph.QuerySolutions):
                raise QueryError("the query cannot be answered: it is no SELECT")
            return [tuple(None if term is None else term.value for term in row) for row in found]

    def _replace(self, name: str, graph: Graph) -> None:
        self._dataset.update(replacement(name, graph))

    def close(self) -> None:
        """Closes the database; closing again does nothing."""
        if hasattr(self, "_database"):
            self._dataset.close()
            del self._dataset, self._database


class EndpointStore(GraphStore):
    """A store at a SPARQL 1.1 endpoint, for a shared or very large corpus.

    Args:
        query_url: The URL for queries.
        update_url: The URL for updates; without it the store is read-only.
    """

    def __init__(self, query_url: str, update_url: str | None = None) -> None:
        from rdflib.plugins.stores.sparqlstore import SPARQLUpdateStore  # imports SPARQL's parser

        self._update_url = update_url
        self._store = SPARQLUpdateStore(query_url, update_url, returnFormat="json", method="POST")
        self._dataset = _Dataset(store=self._store)

    def select(self, query: str) -> list[Row]:
        """See :meth:`GraphStore.select`."""
        return _rows(self._dataset, query)

    def _replace(self, name: str, graph: Graph) -> None:
        if self._update_url is None:
            raise ConfigError("update_url must be given to write to an endpoint, got None")
        try:
            self._store.update(replacement(name, graph))
        except OSError as error:
            raise DataError(f"the endpoint refused an update: {error}", file=self._update_url) from error


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"the store cannot be read: {error}") from error
    except (SyntaxError, ValueError) as error:
        raise QueryError(f"the query cannot be answered: {error}") from error


def is_iri(text: str) -> bool:
    """Whether a text has only characters of an IRI."""
    return _IRI.fullmatch(text) is not None


def _checked(node: str) -> str:
    if not is_iri(node):
        raise QueryError(f"a node must be an IRI, got {node!r}")
    return node


def replacement(name: str, graph: Graph) -> str:
    """The SPARQL update that replaces the triples of a named graph."""
    return f"CLEAR SILENT GRAPH <{name}> ;\nINSERT DATA {{ GRAPH <{name}> {{\n{ntriples(graph)}}} }}"


def _rows(dataset: Dataset, query: str) -> list[Row]:
    try:
        result: Any = dataset.query(query)
        if isinstance(result, tuple):  # an endpoint's error: its status and text
            failure = DataError if int(result[0]) >= 500 else QueryError
            raise failure(f"the query cannot be answered: the endpoint reports {result[1]}")
        return [tuple(row) for row in result]
    except OSError as error:
        raise DataError(f"the store cannot be reached: {error}") from error
    except (SyntaxError, ValueError) as error:
        raise QueryError(f"the query cannot be answered: {error}") from error
    except Exception as error:
        if is_parse_error(error):
            raise QueryError(f"the query cannot be parsed: {error}") from error
        raise
