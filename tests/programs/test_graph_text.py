"""What a language model is shown of a growing graph, and what is mended of its queries."""

from __future__ import annotations

import pytest

from kg.growing import GrowingGraph, Origin
from kg.investment import investment_schema
from kg.updates import AddEdge, AddNode, NodeKey
from programs.graph_text import brief_types, node_names, rendered_graph, rendered_rows


@pytest.fixture
def graph() -> GrowingGraph:
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


def test_all_types_fit_on_a_line_each(graph: GrowingGraph) -> None:
    lines = brief_types(graph.schema).splitlines()
    assert len(lines) == 16
    assert "Sector: name, trend (bullish|bearish|neutral)" in lines
    assert "mentions: News -> any" in lines


def test_long_values_are_cut(graph: GrowingGraph) -> None:
    line = next(line for line in rendered_graph(graph, "Long", 9).splitlines() if line.startswith("News Long"))
    assert len(line) < 200


def test_rows_name_nodes_by_their_names(graph: GrowingGraph) -> None:
    found = graph.query("SELECT ?c WHERE { ?c a type:Company }")
    assert rendered_rows(found) == "Company helixon inc."
    assert rendered_rows(found, node_names(graph)) == "Helixon Inc."
    both = graph.query("SELECT ?c ?country WHERE { ?c a type:Company ; prop:country ?country }")
    assert rendered_rows(both, node_names(graph)) == "c=Helixon Inc.; country=Germany"
