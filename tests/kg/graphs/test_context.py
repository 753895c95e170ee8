"""Graph context: what is fetched, what is kept, what is left out, and who is salient, over all three stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from rdflib import Graph

from kg.errors import ConfigError, DataError, QueryError
from kg.graphs.context import ContextConfig, GraphContextRetriever, TurnEntities, salience
from kg.graphs.naming import Statement, local_name
from kg.graphs.stores import EndpointStore, GraphStore, MemoryStore, PersistentStore

NAME = "http://x/graph"
TURTLE = """
@prefix : <http://x/a#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:germany a :Country ; rdfs:label "Germany" ; :population 83 ; :capital :berlin ; :borders :france, :poland .
:france a :Country ; rdfs:label "France" ; :population 68 ; :borders :germany ; :capital :paris .
:poland a :Country ; rdfs:label "Poland" ; :population 38 ; :borders :germany .
:berlin a :City ; rdfs:label "Berlin" ; :mayor "W" .
:paris a :City ; :in :france .
:oslo a :City ; rdfs:label "Oslo" .
:seine :flows :paris .
"""
X = "http://x/a#"
GERMANY, FRANCE, POLAND, BERLIN = f"{X}germany", f"{X}france", f"{X}poland", f"{X}berlin"
Server = Callable[[], AbstractContextManager[Any]]


@pytest.fixture(params=["memory", "persistent", "endpoint"])
def store(request: pytest.FixtureRequest, tmp_path: Path, sparql_server: Server) -> Iterator[GraphStore]:
    if request.param != "memory":
        pytest.importorskip("oxrdflib")
    if request.param == "endpoint":
        with sparql_server() as server, EndpointStore(f"{server.url}/query", f"{server.url}/update") as opened:
            opened.put_graph(NAME, _graph())
            yield opened
        return
    with MemoryStore() if request.param == "memory" else PersistentStore(tmp_path / "db") as opened:
        opened.put_graph(NAME, _graph())
        yield opened


def _graph() -> Graph:
    graph = Graph()
    graph.parse(data=TURTLE, format="turtle")
    return graph


def _memory() -> MemoryStore:
    store = MemoryStore()
    store.put_graph(NAME, _graph())
    return store


class CountingStore(MemoryStore):
    """Counts what is fetched, and fails on the nodes of ``broken``."""

    def __init__(self) -> None:
        super().__init__()
        self.put_graph(NAME, _graph())
        self.asked: list[str] = []
        self.broken: set[str] = set()

    def edges(self, node: str, limit: int = 200) -> list[Statement]:
        self.asked.append(node)
        if node in self.broken:
            raise DataError("the store cannot be read: gone")
        return super().edges(node, limit)


def test_an_entity_has_types_literals_and_neighbours_of_both_directions(store: GraphStore) -> None:
    entity = GraphContextRetriever(store).retrieve([GERMANY]).entities[0]
    assert entity.label == "Germany"
    assert entity.types == (f"{X}Country",)
    assert entity.properties == ((f"{X}population", "83"),)
    edges = {(local_name(one.relation), one.label, one.outgoing) for one in entity.neighbours}
    assert edges == {
        ("borders", "France", True),
        ("borders", "Poland", True),
        ("capital", "Berlin", True),
        ("borders", "France", False),
        ("borders", "Poland", False),
    }


def test_what_has_no_label_goes_by_its_local_name(store: GraphStore) -> None:
    entity = GraphContextRetriever(store).retrieve([FRANCE]).entities[0]
    assert ("capital", "paris") in {(local_name(one.relation), one.label) for one in entity.neighbours}


def test_a_radius_of_two_adds_the_neighbours_own_edges(store: GraphStore) -> None:
    retriever = GraphContextRetriever(store)
    one, two = retriever.retrieve([POLAND]), retriever.retrieve([POLAND], radius=2)
    assert one.around == ()
    assert [entity.label for entity in two.around] == ["Germany"]
    assert two.around[0].has(f"{X}capital")
    with pytest.raises(ConfigError, match="radius must be 1 or 2, got 3"):
        retriever.retrieve([POLAND], radius=3)


def test_what_a_turn_fetched_is_not_fetched_again() -> None:
    store = CountingStore()
    retriever = GraphContextRetriever(store)
    first = retriever.retrieve([GERMANY, FRANCE])
    second = retriever.retrieve([FRANCE, POLAND])
    assert store.asked == [GERMANY, FRANCE, POLAND]
    assert (first.fetched, first.reused, second.fetched, second.reused) == (2, 0, 1, 1)


def test_failures_leave_less_context_and_are_counted() -> None:
    store = CountingStore()
    store.broken = {FRANCE}
    retriever = GraphContextRetriever(store)
    context = retriever.retrieve([GERMANY, FRANCE, f"{X}nowhere", "no iri>"])
    assert [entity.label for entity in context.entities] == ["Germany"]
    assert [(local_name(one.node), one.reason) for one in context.failures] == [
        ("france", "the store cannot be read: gone"),
        ("nowhere", "it is not in the graph"),
        ("no iri>", "a node must be an IRI, got 'no iri>'"),
    ]
    assert retriever.failed == 3
    store.broken = set()
    assert [entity.label for entity in retriever.retrieve([FRANCE]).entities] == ["France"], "it is tried again"


def test_labels_that_cannot_be_fetched_cost_the_labels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    store = _memory()

    def broken(nodes: object) -> dict[str, str]:
        raise QueryError("no")

    monkeypatch.setattr(store, "labels", broken)
    retriever = GraphContextRetriever(store)
    assert "berlin" in {one.label for one in retriever.retrieve([GERMANY]).entities[0].neighbours}
    assert retriever.failed == 1


def test_no_more_entities_than_wanted() -> None:
    retriever = GraphContextRetriever(_memory(), ContextConfig(max_entities=3))
    nodes = [GERMANY, FRANCE, POLAND, BERLIN, f"{X}oslo"]
    assert [entity.label for entity in retriever.retrieve(nodes).entities] == ["Germany", "France", "Poland"]
    assert len(retriever.for_turns([TurnEntities(tuple(nodes))]).entities) == 3
    assert GraphContextRetriever(_memory()).for_turns([]).entities == ()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_entities": 2}, "max_entities must be from 3 to 5, got 2"),
        ({"max_entities": 6}, "max_entities must be from 3 to 5, got 6"),
        ({"radius": 0}, "radius must be 1 or 2, got 0"),
        ({"decay": 1.0}, "decay must be between 0 and 1"),
        ({"max_neighbours": 0}, "max_neighbours must be at least 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ContextConfig(**settings)


def test_salience_is_the_question_then_its_results_then_earlier_turns() -> None:
    turns = [TurnEntities(("a",), ("b",)), TurnEntities(("c",), ("d", "a"))]
    weights = salience(turns, decay=0.5)
    assert list(weights) == ["c", "a", "d", "b"] or list(weights) == ["c", "d", "a", "b"]
    assert weights == {"c": 1.0, "d": 0.8, "a": 0.8, "b": 0.4}
    assert salience([]) == {}


def test_an_entity_that_has_what_is_asked_for_goes_before_others() -> None:
    retriever = GraphContextRetriever(_memory())
    turns = [TurnEntities((BERLIN,), (GERMANY,)), TurnEntities((POLAND,))]
    plain = [entity.label for entity in retriever.for_turns(turns).entities]
    asked = [entity.label for entity in retriever.for_turns(turns, asked=[f"{X}capital"]).entities]
    assert plain == ["Poland", "Berlin", "Germany"]
    assert asked == ["Germany", "Poland", "Berlin"]


def test_many_neighbours_are_cut_and_said() -> None:
    retriever = GraphContextRetriever(_memory(), ContextConfig(max_neighbours=2))
    entity = retriever.retrieve([GERMANY]).entities[0]
    assert len(entity.neighbours) == 2
    assert entity.cut
    assert not retriever.retrieve([BERLIN]).entities[0].cut


def test_a_context_as_text_and_as_json() -> None:
    context = GraphContextRetriever(_memory()).retrieve([BERLIN])
    assert context.to_text() == "Berlin (City) | mayor W | capital of: Germany"
    assert context.to_dict() == {
        "berlin": {
            "label": "Berlin",
            "type": ["City"],
            "properties": [{"prop": "mayor", "value": "W"}],
            "neighbors": [{"rel": "capital", "target": "Germany", "direction": "in"}],
        }
    }
    assert context.names == {"Berlin", "Germany"}
    assert GraphContextRetriever(_memory()).retrieve([]).to_text() == "none"


def test_a_report_s_instances_have_their_line_items() -> None:
    from kg.reports.archive import ReportStore
    from kg.reports.graph import build_report_graph
    from kg.reports.learning import build_ontology
    from kg.reports.report import Report
    from kg.reports.triples import report_base

    report = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 12")), ())
    store = MemoryStore()
    graph = build_report_graph(report, build_ontology([report]))
    ReportStore(store).put(graph)
    name = graph.observations[-1].entity
    entity = GraphContextRetriever(store).retrieve([f"{report_base('r')}#{name}"]).entities[0]
    assert {local_name(prop): value for prop, value in entity.properties} == {"net_income": "12", "year": "2008"}
