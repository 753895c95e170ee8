"""A small growing graph, for testing what a language model is shown of one."""

from __future__ import annotations

import pytest

from kg.growing.graph import GrowingGraph, Origin
from kg.growing.updates import AddEdge, AddNode, NodeKey
from kg.investments.schema import investment_schema


@pytest.fixture
def wire_graph() -> GrowingGraph:
    graph = GrowingGraph(None, investment_schema())
    company = NodeKey("Company", "Helixon Inc.")
    graph.apply(
        [
            AddNode("Company", company.name, {"country": "Germany"}),
            AddNode("Asset", "HLXN", {"symbol": "HLXN"}),
            AddEdge("issued_by", NodeKey("Asset", "HLXN"), company),
            AddNode("Sector", "Rail"),
            AddNode("News", "Long", {"published_at": "2026-11-01", "summary": "word " * 60}),
        ],
        Origin("wire"),
    )
    return graph
