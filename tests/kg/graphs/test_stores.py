"""One suite for both stores; the SPARQL endpoint is a real server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from kg.errors import DataError, QueryError
from kg.graphs.stores import EndpointStore, GraphStore, PersistentStore

Server = Callable[[], AbstractContextManager[Any]]
TRIPLES = """<http://x/%C3%A4> <http://x/says> "net \\"income\\" \\n"@en .
<http://x/%C3%A4> <http://x/value> "4.00" .
<http://x/%C3%A4> <http://x/next> <http://x/c> ."""
QUERY = "SELECT ?s ?o ?none WHERE { ?s <http://x/says>|<http://x/next> ?o OPTIONAL { ?s <urn:none> ?none } }"


def _load(database: pyoxigraph.Store) -> None:
    database.load(TRIPLES.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    database.flush()


@pytest.fixture(params=["persistent", "endpoint"])
def store(request: pytest.FixtureRequest, tmp_path: Path, sparql_server: Server) -> Iterator[GraphStore]:
    if request.param == "endpoint":
        with sparql_server() as server, EndpointStore(f"{server.url}/query") as endpoint:
            server.store.load(TRIPLES.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
            yield endpoint
    else:
        _load(pyoxigraph.Store(str(tmp_path / "db")))
        with PersistentStore(tmp_path / "db") as opened:
            yield opened


def test_rows_are_text_and_none_where_unbound(store: GraphStore) -> None:
    assert set(store.texts(QUERY)) == {
        ("http://x/%C3%A4", 'net "income" \n', None),
        ("http://x/%C3%A4", "http://x/c", None),
    }


@pytest.mark.parametrize("query", ["SELECT nonsense", "SELECT ?x { ?x unknown:name ?y }"])
def test_a_query_that_cannot_be_parsed_is_refused(store: GraphStore, query: str) -> None:
    with pytest.raises(QueryError, match="cannot be"):
        store.texts(query)


def test_a_folder_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(DataError, match="cannot be opened as a database"):
        PersistentStore(tmp_path / "file")


def test_an_endpoint_that_is_not_there_is_an_error(sparql_server: Server) -> None:
    with sparql_server() as server:
        url = server.url
    with EndpointStore(f"{url}/query") as store, pytest.raises(DataError, match="cannot be reached"):
        store.texts(QUERY)
