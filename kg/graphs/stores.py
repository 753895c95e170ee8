"""A SPARQL 1.1 endpoint, which is read and never written.

>>> EndpointStore("https://example.org/sparql").texts("SELECT ?label WHERE { ?film rdfs:label ?label } LIMIT 1")
[('Alien',)]
"""

from __future__ import annotations

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

import httpx

from kg.errors import DataError, QueryError

Text = tuple[str | None, ...]
MOST_SECONDS, MOST_BYTES = 60.0, 100_000_000
"""The limits of one reply as a whole."""


class EndpointStore:
    """A SPARQL 1.1 endpoint, for a shared or very large graph.

    Args:
        url: The URL for queries.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def texts(self, query: str) -> list[Text]:
        """The rows of a SPARQL SELECT as text of IRIs and literals, ``None`` if unbound.

        Raises:
            QueryError: The query cannot be answered.
            DataError: The endpoint cannot be reached or read, or its reply is over a limit.
        """
        from rdflib.query import Result  # with SPARQL's parser

        try:
            with ThreadPoolExecutor(1) as thread:  # the caller may have a loop of its own
                status, body = thread.submit(asyncio.run, self._reply(query)).result()
        except TimeoutError as error:
            raise DataError(f"the endpoint's reply takes longer than {MOST_SECONDS:g} seconds") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise DataError(f"the endpoint cannot be reached or read: {error}") from error
        if status != HTTPStatus.OK:
            failure = DataError if status >= HTTPStatus.INTERNAL_SERVER_ERROR else QueryError
            text = body[:200].decode("utf-8", errors="replace")
            raise failure(f"the query cannot be answered: the endpoint reports {status} {text}")
        try:
            rows: Any = Result.parse(io.BytesIO(body), format="json")
            return [tuple(None if term is None else str(term) for term in row) for row in rows]
        except Exception as error:  # whatever rdflib raises over a reply that is no result
            raise QueryError(f"the endpoint's reply is no result of SPARQL: {type(error).__name__}: {error}") from error

    async def _reply(self, query: str) -> tuple[int, bytes]:
        accept = {"Accept": "application/sparql-results+json"}
        body = bytearray()
        async with (
            asyncio.timeout(MOST_SECONDS),
            httpx.AsyncClient(timeout=MOST_SECONDS, follow_redirects=True) as client,
            client.stream("POST", self._url, data={"query": query}, headers=accept) as reply,
        ):
            async for part in reply.aiter_bytes():
                body += part
                if len(body) > MOST_BYTES:
                    raise DataError(f"the endpoint's reply is larger than {MOST_BYTES:,} bytes")
        return reply.status_code, bytes(body)
