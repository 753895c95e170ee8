"""What a language model is shown of a growing graph, and what is mended of its queries."""

from __future__ import annotations

from kg.growing.graph import GrowingGraph
from programs.wording.graphs import brief_types, node_names, rendered_graph, rendered_rows


def test_all_types_fit_on_a_line_each(wire_graph: GrowingGraph) -> None:
    lines = brief_types(wire_graph.schema).splitlines()
    assert len(lines) == 16
    assert "Sector: name, trend (bullish|bearish|neutral)" in lines
    assert "mentions: News -> any" in lines


def test_long_values_are_cut(wire_graph: GrowingGraph) -> None:
    line = next(line for line in rendered_graph(wire_graph, "Long", 9).splitlines() if line.startswith("News Long"))
    assert len(line) < 200


def test_rows_name_nodes_by_their_names(wire_graph: GrowingGraph) -> None:
    found = wire_graph.query("SELECT ?c WHERE { ?c a type:Company }")
    assert rendered_rows(found) == "Company helixon inc."
    assert rendered_rows(found, node_names(wire_graph)) == "Helixon Inc."
    both = wire_graph.query("SELECT ?c ?country WHERE { ?c a type:Company ; prop:country ?country }")
    assert rendered_rows(both, node_names(wire_graph)) == "c=Helixon Inc.; country=Germany"
