"""One suite for all three stores; the SPARQL endpoint is a real server on loopback."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("oxrdflib", reason="the persistent store and the endpoint of the tests need oxrdflib")


from kg.errors import ConfigError, DataError, QueryError
from kg.graphs.stores import EndpointStore, GraphStore, MemoryStore, PersistentStore
from kg.reports.graph import ReportGraph, build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from kg.reports.triples import report_base

Server = Callable[[], AbstractContextManager[Any]]
ROOT = Path(__file__).resolve().parents[3]


def _report(name: str, value: str = "5") -> Report:
    table = (("", "2009", "2008"), ('net "income"\\ \n', f"$ {value}", "4.00%"), ("sales", "7", "-8 ( 8 )"))
    return Report(name, ("sales were $ 1.50 million in 2009 .",), table, ())


FIRST = _report("A B/2009/ü.pdf")
ONTOLOGY = build_ontology([FIRST])


def _graph(report: Report) -> ReportGraph:
    return build_report_graph(report, ONTOLOGY)


@pytest.fixture(params=["memory", "persistent", "endpoint"])
def store(request: pytest.FixtureRequest, tmp_path: Path, sparql_server: Server) -> Iterator[GraphStore]:
    if request.param == "endpoint":
        with sparql_server() as server, EndpointStore(f"{server.url}/query", f"{server.url}/update") as endpoint:
            yield endpoint
    else:
        with MemoryStore() if request.param == "memory" else PersistentStore(tmp_path / "db") as opened:
            yield opened


def _put(store: GraphStore, report: Report = FIRST) -> None:
    store.put_graph(report_base(report.id), _graph(report).graph)


def test_what_is_put_again_replaces_it(store: GraphStore) -> None:
    for value in ("5", "6", "6"):
        _put(store, _report("a", value))
    assert store.triples() == len(_graph(_report("a")).graph)
    values = store.texts(
        "SELECT ?v WHERE { GRAPH ?g { ?s <http://purl.org/linked-data/sdmx/2009/measure#obsValue> ?v } }"
    )
    assert "6" in {row[0] for row in values}
    assert "5" not in {row[0] for row in values}
    store.remove_graph(report_base("a"))
    assert store.triples() == 0


def test_rows_as_text_are_the_rows_as_terms(store: GraphStore) -> None:
    _put(store)
    query = "SELECT ?s ?p ?o ?none WHERE { GRAPH ?g { ?s ?p ?o } OPTIONAL { ?s <urn:none> ?none } }"
    texts, terms = store.texts(query), store.select(query)
    assert sorted(map(str, texts)) == sorted(
        str(tuple(None if term is None else str(term) for term in row)) for row in terms
    )
    assert texts
    with pytest.raises(QueryError, match="cannot be"):
        store.texts("SELECT nonsense")


def test_a_persistent_store_is_there_when_opened_again(tmp_path: Path) -> None:
    with PersistentStore(tmp_path / "db") as store:
        _put(store)
    with PersistentStore(tmp_path / "db") as store:
        assert store.triples() == len(_graph(FIRST).graph)


def test_a_folder_that_is_in_use_or_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(DataError, match="cannot be opened as a database"):
        PersistentStore(tmp_path / "file")


def test_an_endpoint_without_an_update_url_is_read_only(sparql_server: Server) -> None:
    with sparql_server() as server, EndpointStore(f"{server.url}/query") as store:
        assert store.triples() == 0
        with pytest.raises(ConfigError, match="update_url must be given"):
            _put(store)


def test_an_endpoint_that_is_not_there_is_an_error(sparql_server: Server) -> None:
    with sparql_server() as server:
        url = server.url
    with EndpointStore(f"{url}/query", f"{url}/update") as store:
        with pytest.raises(DataError, match="cannot be reached"):
            store.triples()
        with pytest.raises(DataError, match="refused an update"):
            _put(store)


@pytest.mark.skipif("FINPATH_SPARQL_QUERY" not in os.environ, reason="no endpoint of the user's own is named")
def test_an_endpoint_of_the_users_own() -> None:
    with EndpointStore(os.environ["FINPATH_SPARQL_QUERY"], os.environ["FINPATH_SPARQL_UPDATE"]) as store:
        _put(store)
        store.remove_graph(report_base(FIRST.id))


def test_several_threads_may_ask_stores_in_memory() -> None:
    stores = [MemoryStore() for _ in range(4)]
    for store in stores:
        _put(store)
    found: list[object] = []

    def ask(store: MemoryStore) -> None:
        for number in range(10):
            query = f"SELECT ?s WHERE {{ GRAPH ?g {{ ?s ?p ?o FILTER(?o != {number}) }} }} LIMIT 3"
            try:
                found.append(len(store.select(query)))
            except Exception as error:  # noqa: BLE001 - whatever a race brings
                found.append(error)

    threads = [Thread(target=ask, args=(store,)) for store in stores * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [3] * 80


def test_a_query_that_cannot_be_parsed_is_refused(store: GraphStore) -> None:
    with pytest.raises(QueryError):
        store.select("SELECT ?x { ?x unknown:name ?y }")
