"""The growing graph: checked updates in one transaction, origins, changed types."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from kg.errors import DataError, SchemaError
from kg.growing import AddEdge, AddNode, NodeKey, SetProperty, Update, node_term
from kg.growing.graph import GrowingGraph, Origin
from kg.investments.schema import investment_schema

WIRE = Origin("wire.txt", "line 1")
COMPANY, ASSET, EVENT = NodeKey("Company", "Helixon Inc."), NodeKey("Asset", "HLXN"), NodeKey("MarketEvent", "Q3")
FACTS: list[Update] = [
    AddNode("Company", "Helixon Inc.", {"country": "USA"}),
    AddNode("Asset", "HLXN", {"type": "stock"}),
    AddEdge("issued_by", ASSET, COMPANY),
    AddNode("MarketEvent", "Q3", {"type": "earnings", "summary": "It did well", "occurred_at": "2026-10-22"}),
    AddEdge("affects", EVENT, COMPANY, {"magnitude": 0.7}),
]


@pytest.fixture
def graph() -> GrowingGraph:
    made = GrowingGraph(None, investment_schema())
    made.apply(FACTS, WIRE)
    return made


def test_facts_are_stored_with_their_origin(graph: GrowingGraph) -> None:
    company = graph.node(NodeKey("Company", "helixon  INC."))
    assert company.key == COMPANY
    assert company.properties == {"name": "Helixon Inc.", "country": "USA"}
    assert company.sources == ("wire.txt line 1",)
    affects = [edge for edge in graph.edges(COMPANY) if edge.type == "affects"]
    assert [(edge.source, edge.properties) for edge in affects] == [(EVENT, {"magnitude": Decimal("0.7")})]
    assert graph.facts() == 3 + 7 + 2


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (AddNode("Company", "Helixon Inc.", {"country": "Canada"}), "SetProperty changes a value"),
        (AddNode("Insight", "x"), "required"),
        (AddNode("Planet", "x"), "there is no node type"),
        (AddNode("Company", "  "), "needs a name"),
        (AddEdge("issued_by", NodeKey("Asset", "GONE"), COMPANY), r"no node Asset\(GONE\)"),
        (SetProperty(COMPANY, "country", 4), "is not of type 'string'"),
        (SetProperty(COMPANY, "name", None), "'name' is a required property"),
    ],
)
def test_one_update_that_is_wrong_keeps_all_others_out(graph: GrowingGraph, update: Update, message: str) -> None:
    before = (list(graph.nodes()), list(graph.edges()))
    with pytest.raises(SchemaError, match=f"update 1 .*{message}"):
        graph.apply([AddNode("Sector", "Shipping"), update], WIRE, batch="b")
    assert (list(graph.nodes()), list(graph.edges())) == before
    assert not graph.has_batch("b")


def test_symmetric_edges_are_followed_both_ways(graph: GrowingGraph) -> None:
    other = NodeKey("Asset", "ZYX")
    graph.apply([AddNode("Asset", "ZYX"), AddEdge("correlated", ASSET, other, {"coefficient": -0.5})], WIRE)
    followed = [(quad.subject, quad.object) for quad in graph.quads() if quad.predicate.value.endswith("/correlated")]
    assert {node_term(ASSET), node_term(other)} == set(followed[0]) == set(followed[1])
    assert followed[0] == followed[1][::-1]


def test_a_changed_type_must_fit_what_is_stored(graph: GrowingGraph) -> None:
    kind = graph.schema.node_type("Company")
    stricter = {**kind.properties_schema, "required": ["name", "country"]}
    graph.change_schema(graph.schema.with_changed(replace(kind, properties_schema=stricter)))
    with pytest.raises(SchemaError, match="'country' is a required property"):
        graph.apply([AddNode("Company", "Nowhere AG")], WIRE)
    looser = graph.schema.with_changed(kind)
    graph.change_schema(looser)
    graph.apply([AddNode("Company", "Nowhere AG")], WIRE)
    with pytest.raises(SchemaError, match=r"Company\(Nowhere AG\) does not fit its changed type"):
        graph.change_schema(graph.schema.with_changed(replace(kind, properties_schema=stricter)))
    assert graph.schema == looser


def test_a_schema_only_grows(graph: GrowingGraph) -> None:
    with pytest.raises(SchemaError, match="a schema only grows"):
        graph.change_schema(replace(graph.schema, types=graph.schema.types[1:]))


def test_a_graph_on_disk_is_found_again_with_its_types(tmp_path: Path) -> None:
    with GrowingGraph(tmp_path / "g", investment_schema()) as graph:
        graph.apply(FACTS, WIRE, batch="b1")
        facts, schema = graph.facts(), graph.schema
        with pytest.raises(DataError, match="cannot be opened"):
            GrowingGraph(tmp_path / "g")
    with GrowingGraph(tmp_path / "g") as again:
        assert (again.facts(), again.schema) == (facts, schema)
        assert again.has_batch("b1")


def test_a_killed_writer_leaves_whole_updates_alone(tmp_path: Path) -> None:
    code = f"""
        from kg.growing.graph import GrowingGraph, Origin
        from kg.investments.schema import investment_schema
        from kg.growing import AddNode
        graph = GrowingGraph({str(tmp_path / "g")!r}, investment_schema())
        for number in range(100_000):
            nodes = [AddNode("Sector", f"{{number}}-{{part}}") for part in range(20)]
            graph.apply(nodes, Origin("x"), batch=str(number))
            print(number, flush=True)
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    acknowledged = [int(writer.stdout.readline()) for _ in range(5)]
    writer.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout if line.strip()]
    writer.communicate()
    with GrowingGraph(tmp_path / "g") as graph:
        assert all(graph.has_batch(str(number)) for number in acknowledged)
        names = [node.key.name for node in graph.nodes("Sector")]
        assert len(names) == 20 * len({name.partition("-")[0] for name in names})


def test_a_full_disk_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    graph, limits = GrowingGraph(tmp_path / "g", investment_schema()), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    with pytest.raises(DataError, match="the graph cannot be written"):
        graph.apply(FACTS, WIRE)
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(graph.nodes("Company")) == []
