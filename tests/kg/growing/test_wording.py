"""Entries of the history in words: values, edges and nodes; many of them are counted."""

from __future__ import annotations

import pytest

from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, Origin, SetProperty
from kg.investments.schema import investment_schema

COMPANY = NodeKey("Company", "Helixon Inc.")


@pytest.fixture
def graph() -> GrowingGraph:
    made = GrowingGraph(None, investment_schema())
    made.apply([AddNode("Company", "Helixon Inc."), AddNode("Company", "Nordal AG")], Origin("wire.txt"))
    return made


def test_values_edges_and_nodes_are_named(graph: GrowingGraph) -> None:
    graph.apply([SetProperty(COMPANY, "country", "Malta")], Origin("by hand"))
    graph.apply([SetProperty(COMPANY, "country", "Chile")], Origin("by hand"))
    graph.apply([AddNode("Asset", "HLXN"), AddNode("Asset", "NRDL")], Origin("a.txt"))
    graph.apply([AddEdge("correlated", NodeKey("Asset", "HLXN"), NodeKey("Asset", "NRDL"))], Origin("b.txt", "line 3"))
    assert [graph.in_words(entry) for entry in graph.history()] == [
        "1  wire.txt: new Company(Helixon Inc.); new Company(Nordal AG)",
        "2  by hand: Company(Helixon Inc.) country: none -> 'Malta'",
        "3  by hand: Company(Helixon Inc.) country: 'Malta' (by hand) -> 'Chile'",
        "4  a.txt: new Asset(HLXN); new Asset(NRDL)",
        "5  b.txt line 3: Asset(HLXN) correlated Asset(NRDL)",
    ]
    assert graph.in_words(graph.undo(5)).endswith("correlated Asset(NRDL) (undone)")


def test_what_only_confirms_is_nothing_new(graph: GrowingGraph) -> None:
    graph.apply([AddNode("Company", "Helixon Inc.")], Origin("wire.txt"))
    assert graph.in_words(graph.history()[-1]) == "2  wire.txt: nothing new"
