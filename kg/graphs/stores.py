"""A SPARQL 1.1 endpoint, which is read and never written.

>>> EndpointStore("https://example.org/sparql").texts("SELECT ?label WHERE { ?film rdfs:label ?label } LIMIT 1")
[('Alien',)]
"""

from __future__ import annotations

from typing import Any

from kg.errors import DataError, QueryError

Text = tuple[str | None, ...]


class EndpointStore:
    """A SPARQL 1.1 endpoint, for a shared or very large graph.

    Args:
        url: The URL for queries.
    """

    def __init__(self, url: str) -> None:
        from rdflib.plugins.stores.sparqlstore import SPARQLStore  # imports SPARQL's parser

        self._store = SPARQLStore(url, returnFormat="json", method="POST")

    def texts(self, query: str) -> list[Text]:
        """The rows of a SPARQL SELECT as text of IRIs and literals, ``None`` if unbound.

        Raises:
            QueryError: The query cannot be answered.
            DataError: The endpoint cannot be reached or read.
        """
        try:
            result: Any = self._store.query(query)
            if isinstance(result, tuple):  # an endpoint's error: its status and text
                failure = DataError if int(result[0]) >= 500 else QueryError
                raise failure(f"the query cannot be answered: the endpoint reports {result[1]}")
            return [tuple(None if term is None else str(term) for term in row) for row in result]
        except OSError as error:
            raise DataError(f"the endpoint cannot be reached or read: {error}") from error
        except (SyntaxError, ValueError) as error:
            raise QueryError(f"the query cannot be answered: {error}") from error
