"""A growing graph asked by the beam: a real graph, and the scorer that knows words alone."""

from __future__ import annotations

import pytest

from kg.errors import QueryError
from kg.growing.graph import GrowingGraph, Origin
from kg.growing.paths import question_graph, retrieved_paths
from kg.growing.query import QueryResult
from kg.growing.updates import AddEdge, AddNode, NodeKey
from kg.investments.schema import investment_schema
from kg.paths.scorer import LearnedRelationScorer

HELIXON, BOREALIS = NodeKey("Company", "Helixon Inc."), NodeKey("Company", "Borealis AG")
CHIPS, SHARE = NodeKey("Sector", "Semiconductors"), NodeKey("Asset", "HLXN")
UPDATES = (
    AddNode("Company", "Helixon Inc.", {"country": "USA"}),
    AddNode("Company", "Borealis AG", {"country": "Austria"}),
    AddNode("Sector", "Semiconductors"),
    AddNode("Asset", "HLXN", {"symbol": "HLXN"}),
    AddEdge("in_sector", HELIXON, CHIPS),
    AddEdge("in_sector", BOREALIS, CHIPS),
    AddEdge("issued_by", SHARE, HELIXON),
)


@pytest.fixture
def graph() -> GrowingGraph:
    made = GrowingGraph(None, investment_schema())
    made.apply(UPDATES, Origin("wire"))
    return made


def found(graph: GrowingGraph, question: str, most: int = 10) -> QueryResult:
    return retrieved_paths(graph, question, LearnedRelationScorer.untrained(), most)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("in which sector is Helixon Inc.?", "Helixon Inc. -> in_sector -> Semiconductors"),
        ("in which sector is Helixon?", "Helixon Inc. -> in_sector -> Semiconductors"),
        ("what is the country of Borealis AG?", "Borealis AG -> country -> Austria"),
        (
            "in which sector is the company that issued HLXN?",
            "HLXN -> issued_by -> Helixon Inc. -> in_sector -> Semiconductors",
        ),
    ],
)
def test_the_best_path_answers(graph: GrowingGraph, question: str, path: str) -> None:
    assert found(graph, question) == QueryResult(("answer", "path"), ((path.rpartition(" -> ")[2], path),))


def test_what_the_graph_has_no_relation_for_is_not_guessed(graph: GrowingGraph) -> None:
    assert found(graph, "who is the chairman of Helixon?").rows == ()


def test_names_that_several_nodes_bear_are_told_apart() -> None:
    graph = GrowingGraph(None, investment_schema())
    graph.apply([*UPDATES, AddNode("Asset", "Helixon Inc.", {"symbol": "HX"})], Origin("wire"))
    asked = question_graph(graph)
    topics = asked.topics("what is the symbol of Helixon Inc.?").entities
    assert {"Helixon Inc. (Asset)", "Helixon Inc. (Company)"} <= set(topics)
    assert found(graph, "what is the symbol of Helixon Inc.?").rows == (("HX", "Helixon Inc. (Asset) -> symbol -> HX"),)


def test_what_is_inserted_is_found(graph: GrowingGraph) -> None:
    question = "in which sector is Vesta Wind?"
    with pytest.raises(QueryError):
        found(graph, question)
    updates = [AddNode("Company", "Vesta Wind"), AddNode("Sector", "Energy")]
    edge = AddEdge("in_sector", NodeKey("Company", "Vesta Wind"), NodeKey("Sector", "Energy"))
    graph.apply([*updates, edge], Origin("wire"))
    assert found(graph, question).rows[0][0] == "Energy"
