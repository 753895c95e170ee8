"""One suite for all three stores; the SPARQL endpoint is a real server on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("oxrdflib", reason="the persistent store and the endpoint of the tests need oxrdflib")

from rdflib import Graph

from kg.errors import ConfigError, DataError, QueryError
from kg.graphs import stores
from kg.graphs.stores import EndpointStore, GraphStore, MemoryStore, PersistentStore
from kg.reports.archive import ReportStore
from kg.reports.graph import ReportGraph, build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from kg.reports.vocabulary import ONTOLOGY as ONTOLOGY_IRI

Server = Callable[[], AbstractContextManager[Any]]
ROOT = Path(__file__).resolve().parents[3]


def _report(name: str, value: str = "5") -> Report:
    table = (("", "2009", "2008"), ('net "income"\\ \n', f"$ {value}", "4.00%"), ("sales", "7", "-8 ( 8 )"))
    return Report(name, ("sales were $ 1.50 million in 2009 .",), table, ())


FIRST, SECOND = _report("A B/2009/ü.pdf"), _report("second")
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


def test_what_is_put_comes_back(store: GraphStore) -> None:
    graph = _graph(FIRST)
    ReportStore(store).put(graph)
    assert ReportStore(store).reports() == [FIRST.id]
    assert ReportStore(store).has(FIRST.id)
    assert ReportStore(store).observations(FIRST.id) == graph.observations


def test_reports_are_apart(store: GraphStore) -> None:
    for report in (FIRST, SECOND):
        ReportStore(store).put(_graph(report))
    assert ReportStore(store).reports() == [FIRST.id, SECOND.id]
    assert ReportStore(store).observations(SECOND.id) == _graph(SECOND).observations


def test_putting_again_changes_nothing(store: GraphStore) -> None:
    ReportStore(store).put(_graph(FIRST))
    before = store.triples()
    ReportStore(store).put(_graph(FIRST))
    assert store.triples() == before


def test_putting_another_version_replaces_the_old_one(store: GraphStore) -> None:
    ReportStore(store).put(_graph(_report("a", "5")))
    ReportStore(store).put(_graph(_report("a", "6")))
    values = [
        observation.quantity.text for observation in ReportStore(store).observations("a") if observation.id == "r1c1"
    ]
    assert values == ["6"]


def test_removing(store: GraphStore) -> None:
    for graph in [_graph(FIRST), _graph(SECOND)]:
        ReportStore(store).put(graph)
    ReportStore(store).remove(FIRST.id)
    assert ReportStore(store).reports() == [SECOND.id]
    with pytest.raises(QueryError, match="is not stored"):
        ReportStore(store).remove(FIRST.id)
    with pytest.raises(QueryError, match="report 'nobody' is not stored"):
        ReportStore(store).observations("nobody")


def test_the_ontology_has_a_graph_of_its_own(store: GraphStore) -> None:
    store.put_graph(ONTOLOGY_IRI, ONTOLOGY.graph)
    store.put_graph(ONTOLOGY_IRI, ONTOLOGY.graph)
    assert ReportStore(store).reports() == []
    assert store.triples() == len(ONTOLOGY.graph)


def test_a_query_that_cannot_be_parsed_is_an_error(store: GraphStore) -> None:
    with pytest.raises(QueryError, match="cannot be"):
        store.select("SELECT nonsense")


def test_rows_as_text_are_the_rows_as_terms(store: GraphStore) -> None:
    ReportStore(store).put(_graph(FIRST))
    query = "SELECT ?s ?p ?o ?none WHERE { GRAPH ?g { ?s ?p ?o } OPTIONAL { ?s <urn:none> ?none } }"
    texts, terms = store.texts(query), store.select(query)
    assert sorted(map(str, texts)) == sorted(
        str(tuple(None if term is None else str(term) for term in row)) for row in terms
    )
    assert texts
    with pytest.raises(QueryError, match="cannot be"):
        store.texts("SELECT nonsense")


def test_unbound_variables_are_none(store: GraphStore) -> None:
    ReportStore(store).put(_graph(FIRST))
    assert store.select("SELECT ?a ?b WHERE { VALUES ?a { 1 } OPTIONAL { ?a <urn:none> ?b } }")[0][1] is None


class _Failing(Graph):
    """Gives half of its triples, then fails."""

    def __iter__(self) -> Iterator[Any]:
        triples = list(super().__iter__())
        yield from triples[: len(triples) // 2]
        raise MemoryError("half-way")


def test_a_put_that_fails_half_way_leaves_the_report_as_it_was(store: GraphStore) -> None:
    old, new = _graph(_report("a", "5")), _graph(_report("a", "6"))
    ReportStore(store).put(old)
    failing = _Failing()
    for triple in new.graph:
        failing.add(triple)
    vars(new)["graph"] = failing
    with pytest.raises(MemoryError, match="half-way"):
        ReportStore(store).put(new)
    assert ReportStore(store).observations("a") == old.observations


def test_an_update_that_is_cut_off_changes_nothing(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(store, MemoryStore):
        pytest.skip("a store in memory is sent no update")
    old = _graph(_report("a", "5"))
    ReportStore(store).put(old)
    whole = stores.replacement
    monkeypatch.setattr(stores, "replacement", lambda name, graph: whole(name, graph)[:-40])
    with pytest.raises((SyntaxError, DataError)):
        ReportStore(store).put(_graph(_report("a", "6")))
    assert ReportStore(store).observations("a") == old.observations


def test_a_persistent_store_is_there_when_opened_again(tmp_path: Path) -> None:
    with PersistentStore(tmp_path / "db") as store:
        ReportStore(store).put(_graph(FIRST))
    with PersistentStore(tmp_path / "db") as store:
        assert ReportStore(store).observations(FIRST.id) == _graph(FIRST).observations


def test_a_crash_leaves_whole_reports_only(tmp_path: Path) -> None:
    """A process that is killed while it writes: every report that is there is there with all its triples."""
    code = textwrap.dedent(
        """
        import os, sys, threading
        sys.path[:0] = [sys.argv[2]]
        from kg.reports.graph import build_report_graph
        from kg.reports.learning import build_ontology
        from kg.reports.report import Report
        from kg.graphs.stores import PersistentStore
        from kg.reports.archive import ReportStore
        table = (("", "2009", "2008"), *((f"row {n}", str(n), "5") for n in range(60)))
        report = lambda name: Report(name, (), table, ())
        ontology = build_ontology([])
        store = PersistentStore(sys.argv[1])
        ReportStore(store).put(build_report_graph(report("0"), ontology))
        print(store.triples(), flush=True)
        for number in range(1, 100000):
            if number == 3:
                threading.Timer(0.03, os._exit, (9,)).start()
            ReportStore(store).put(build_report_graph(report(str(number)), ontology))
        """
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "db"), str(ROOT)], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 9, run.stderr
    with PersistentStore(tmp_path / "db") as store:
        assert len(ReportStore(store).reports()) >= 3
        # Only the report's number differs, and it is in IRIs: whole reports have the same number of triples.
        assert store.triples() == len(ReportStore(store).reports()) * int(run.stdout)


def test_a_folder_that_is_in_use_or_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(DataError, match="cannot be opened as a database"):
        PersistentStore(tmp_path / "file")


def test_an_endpoint_without_an_update_url_is_read_only(sparql_server: Server) -> None:
    with sparql_server() as server, EndpointStore(f"{server.url}/query") as store:
        assert ReportStore(store).reports() == []
        with pytest.raises(ConfigError, match="update_url must be given"):
            ReportStore(store).put(_graph(FIRST))


def test_an_endpoint_gets_one_update_a_report(sparql_server: Server) -> None:
    with sparql_server() as server, EndpointStore(f"{server.url}/query", f"{server.url}/update") as store:
        ReportStore(store).put(_graph(FIRST))
        assert len(server.requests) == 1


def test_an_endpoint_that_is_not_there_is_an_error(sparql_server: Server) -> None:
    with sparql_server() as server:
        url = server.url
    with EndpointStore(f"{url}/query", f"{url}/update") as store:
        with pytest.raises(DataError, match="cannot be reached"):
            ReportStore(store).reports()
        with pytest.raises(DataError, match="refused an update"):
            ReportStore(store).put(_graph(FIRST))


@pytest.mark.skipif("FINPATH_SPARQL_QUERY" not in os.environ, reason="no endpoint of the user's own is named")
def test_an_endpoint_of_the_users_own() -> None:
    with EndpointStore(os.environ["FINPATH_SPARQL_QUERY"], os.environ["FINPATH_SPARQL_UPDATE"]) as store:
        ReportStore(store).put(_graph(FIRST))
        assert ReportStore(store).observations(FIRST.id) == _graph(FIRST).observations
        ReportStore(store).remove(FIRST.id)


def test_several_threads_may_ask_stores_in_memory() -> None:
    stores = [MemoryStore() for _ in range(4)]
    for store in stores:
        ReportStore(store).put(_graph(FIRST))
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


def test_a_database_is_closed_once(tmp_path: Path) -> None:
    with PersistentStore(tmp_path / "db") as opened:
        opened.close()
