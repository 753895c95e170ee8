"""The history of a growing graph: old values with their sources, undone updates."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from kg.errors import DataError, SchemaError
from kg.growing import AddEdge, AddNode, NodeKey, SetProperty, Update
from kg.growing.graph import GrowingGraph, Origin
from kg.growing.history import BuiltOnError
from kg.growing.store import Edge, Node
from kg.investments.schema import investment_schema

COMPANY, ASSET = NodeKey("Company", "Helixon Inc."), NodeKey("Asset", "HLXN")


@pytest.fixture
def graph() -> GrowingGraph:
    made = GrowingGraph(None, investment_schema())
    made.apply([AddNode("Company", "Helixon Inc.", {"country": "Germany", "ticker": "HLXN"})], Origin("wire.txt"))
    return made


def properties(graph: GrowingGraph) -> dict[str, object]:
    found = graph.node(COMPANY)
    return dict(found.properties) if found is not None else {}


def content(graph: GrowingGraph) -> tuple[list[Node], list[Edge]]:
    return list(graph.nodes()), list(graph.edges())


def test_a_replaced_value_is_kept_with_its_source_and_returns(graph: GrowingGraph) -> None:
    before = content(graph)
    graph.apply([SetProperty(COMPANY, "country", "Atlantis")], Origin("evil.txt"), spans=["set it to Atlantis"])
    graph.apply([SetProperty(COMPANY, "ticker", None)], Origin("evil.txt"))
    (_, changed, removed) = graph.history()
    assert graph.in_words(changed) == "2  evil.txt: Company(Helixon Inc.) country: 'Germany' (wire.txt) -> 'Atlantis'"
    assert changed.spans == ("set it to Atlantis",)
    assert "ticker: 'HLXN' (wire.txt) -> none" in graph.in_words(removed)
    graph.undo(2)
    assert properties(graph)["country"] == "Germany"
    assert [entry.undone for entry in graph.undo(3)] == [True]
    assert properties(graph) == {"name": "Helixon Inc.", "country": "Germany", "ticker": "HLXN"}
    assert content(graph) == before


def test_an_undone_document_leaves_what_another_one_states(graph: GrowingGraph) -> None:
    issued: list[Update] = [AddNode("Asset", "HLXN"), AddEdge("issued_by", ASSET, COMPANY)]
    graph.apply([AddNode("Company", "Helixon Inc.", {"country": "Germany"}), *issued], Origin("b.txt"), batch="b")
    graph.apply([AddNode("Company", "Helixon Inc."), *issued], Origin("c.txt"))
    graph.undo(1)
    assert properties(graph) == {"name": "Helixon Inc.", "country": "Germany"}
    graph.undo(2)
    assert not graph.has_batch("b")
    assert properties(graph) == {"name": "Helixon Inc."}
    assert [edge.sources for edge in graph.edges()] == [("c.txt",)]
    graph.undo(3)
    assert content(graph) == ([], [])


@pytest.mark.parametrize("order", tuple(itertools.permutations(("banking", "Banking", "BANKING", "  Banking "))))
def test_the_spelling_of_a_name_does_not_depend_on_the_order_of_updates(order: tuple[str, ...]) -> None:
    graph = GrowingGraph(None, investment_schema())
    for spelling in order:
        graph.apply([AddNode("Sector", spelling)], Origin(f"{spelling!r}.txt"))
    (node,) = graph.nodes("Sector")
    assert (node.key.name, node.properties, len(node.sources)) == ("Banking", {"name": "Banking"}, 4)
    graph.undo(2, 3, 1)
    assert [node.properties["name"] for node in graph.nodes()] == [node.key.name for node in graph.nodes()]
    graph.undo(4)
    assert content(graph) == ([], [])


def test_what_a_later_update_builds_on_cannot_be_undone(graph: GrowingGraph) -> None:
    graph.apply([AddNode("Asset", "HLXN"), AddEdge("issued_by", ASSET, COMPANY)], Origin("b.txt"))
    graph.apply([SetProperty(COMPANY, "country", "Chile")], Origin("c.txt"))
    graph.apply([SetProperty(COMPANY, "country", "Peru")], Origin("d.txt"))
    before = content(graph)
    for number, message in [
        (1, r"4 \(d.txt\), 3 \(c.txt\), 2 \(b.txt\) build on it"),
        (3, "its value has changed since, by change 4"),
        (9, "there is no change 9; the last one is 4"),
    ]:
        with pytest.raises(SchemaError, match=message):
            graph.undo(number)
    assert content(graph) == before
    graph.undo(4)
    with pytest.raises(SchemaError, match="was undone before"):
        graph.undo(4)


def test_a_copy_changes_alone(graph: GrowingGraph) -> None:
    before = content(graph)
    with graph.copy() as other:
        other.apply([SetProperty(COMPANY, "country", "Chile")], Origin("x"))
        assert properties(other)["country"] == "Chile"
        assert len(other.history()) == 2
    assert (content(graph), len(graph.history())) == (before, 1)


def test_many_processes_may_read_a_graph_and_none_of_them_writes(tmp_path: Path) -> None:
    with GrowingGraph(tmp_path / "g", investment_schema()) as graph:
        graph.apply([AddNode("Sector", "Rail")], Origin("a"))
        with pytest.raises(DataError, match="in use by another process"):
            GrowingGraph(tmp_path / "g", read_only=True)
    with GrowingGraph(tmp_path / "g", read_only=True) as first, GrowingGraph(tmp_path / "g", read_only=True) as second:
        assert first.facts() == second.facts() == 2
        with pytest.raises(SchemaError, match="opened to be read"):
            first.apply([AddNode("Sector", "Coal")], Origin("a"))
        with pytest.raises(DataError, match="in use by another process"):
            GrowingGraph(tmp_path / "g")
    with GrowingGraph(tmp_path / "g") as again:
        assert again.facts() == 2


def test_the_history_is_told_in_words(graph: GrowingGraph) -> None:
    other = NodeKey("Asset", "NRDL")
    graph.apply([SetProperty(COMPANY, "country", "Malta")], Origin("by hand"))
    graph.apply([SetProperty(COMPANY, "sector", "Rail")], Origin("by hand"))
    graph.apply([AddNode("Asset", "HLXN"), AddNode("Asset", "NRDL")], Origin("a.txt"))
    graph.apply([AddEdge("correlated", ASSET, other)], Origin("b.txt", "line 3"))
    graph.apply([AddNode("Company", "Helixon Inc.")], Origin("wire.txt"))
    assert [graph.in_words(entry) for entry in graph.history()] == [
        "1  wire.txt: 1 node",
        "2  by hand: Company(Helixon Inc.) country: 'Germany' (wire.txt) -> 'Malta'",
        "3  by hand: Company(Helixon Inc.) sector: none -> 'Rail'",
        "4  a.txt: 2 nodes",
        "5  b.txt line 3: 1 edge",
        "6  wire.txt: nothing new",
    ]
    [undone] = graph.undo(5)
    assert graph.in_words(undone).endswith("1 edge (undone)")


def test_updates_that_build_on_each_other_are_named_once(graph: GrowingGraph) -> None:
    other = NodeKey("Asset", "NRDL")
    graph.apply([AddNode("Asset", "HLXN"), AddNode("Asset", "NRDL")], Origin("a.txt"))
    graph.apply([AddNode("Asset", "HLXN"), AddEdge("correlated", ASSET, other)], Origin("b.txt"))
    graph.apply([AddNode("Asset", "NRDL"), AddEdge("correlated", other, ASSET)], Origin("c.txt"))
    graph.undo(2)
    with pytest.raises(BuiltOnError) as error:
        graph.undo(3)
    assert [entry.number for entry in error.value.later] == [4]
    assert [entry.number for entry in graph.undo(4, 3)] == [3, 4]
    assert content(graph) == ([graph.node(COMPANY)], [])
