"""Stores of triples that are read, never written: an Oxigraph database in a folder, or a SPARQL 1.1 endpoint.

>>> with EndpointStore("https://example.org/sparql") as store:
...     store.texts("SELECT ?label WHERE { ?s <http://www.w3.org/2000/01/rdf-schema#label> ?label } LIMIT 1")
[('Alien',)]
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyoxigraph

from kg.errors import DataError, QueryError

Text = tuple[str | None, ...]

_IRI = re.compile(r"[^\x00-\x20<>\"{}|^`\\]+")


class GraphStore(ABC):
    """A store of triples. Use it as a context manager, or call ``close``."""

    @abstractmethod
    def texts(self, query: str) -> list[Text]:
        """The rows of a SPARQL SELECT as text of IRIs and literals, ``None`` if unbound.

        Raises:
            QueryError: The query cannot be answered.
            DataError: The store cannot be reached or read.
        """

    def close(self) -> None:  # noqa: B027 - an endpoint has nothing to release
        """Closes the store; a database can then be opened again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class PersistentStore(GraphStore):
    """An Oxigraph database.

    Args:
        path: Its folder.

    Raises:
        DataError: The folder is no database, or another process uses it.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            self._database = pyoxigraph.Store(str(path))
        except OSError as error:
            raise DataError(f"cannot be opened as a database: {error}", file=str(path)) from error

    def texts(self, query: str) -> list[Text]:
        """See :meth:`GraphStore.texts`."""
        with _reading():
            rows = self._database.query(query)
            if not isinstance(rows, pyoxigraph.QuerySolutions):
                raise QueryError("the query cannot be answered: it is no SELECT")
            return [tuple(None if term is None else term.value for term in row) for row in rows]

    def close(self) -> None:
        """Closes the database; closing again does nothing."""
        if hasattr(self, "_database"):
            del self._database


class EndpointStore(GraphStore):
    """A SPARQL 1.1 endpoint, for a shared or very large graph.

    Args:
        url: The URL for queries.
    """

    def __init__(self, url: str) -> None:
        from rdflib.plugins.stores.sparqlstore import SPARQLStore  # imports SPARQL's parser

        self._store = SPARQLStore(url, returnFormat="json", method="POST")

    def texts(self, query: str) -> list[Text]:
        """See :meth:`GraphStore.texts`."""
        with _reading():
            result: Any = self._store.query(query)
            if isinstance(result, tuple):  # an endpoint's error: its status and text
                failure = DataError if int(result[0]) >= 500 else QueryError
                raise failure(f"the query cannot be answered: the endpoint reports {result[1]}")
            return [tuple(None if term is None else str(term) for term in row) for row in result]


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"the store cannot be reached or read: {error}") from error
    except (SyntaxError, ValueError) as error:
        raise QueryError(f"the query cannot be answered: {error}") from error


def is_iri(text: str) -> bool:
    """Whether a text has only characters of an IRI."""
    return _IRI.fullmatch(text) is not None
