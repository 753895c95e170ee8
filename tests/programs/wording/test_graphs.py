"""The text of a growing graph and its types in prompts."""

from __future__ import annotations

from kg.growing.graph import GrowingGraph
from kg.investments.schema import investment_schema
from programs.wording.graphs import node_names, rendered_graph, rendered_rows, rendered_types, types_for


def test_types_are_rendered_for_a_prompt() -> None:
    text = rendered_types(investment_schema())
    assert "- Company: A legal entity" in text
    assert "  Required: name" in text
    assert "- correlated: Asset ↔ Asset" in text
    assert "- mentions: News → any node" in text
    assert '  Example: {"direction": "positive", "magnitude": 0.7}' in text
    assert "  Also called: firm, corporation, business\n" in text
    assert "  The other way round: issued, issues\n" in text


def test_long_values_are_cut(wire_graph: GrowingGraph) -> None:
    line = next(line for line in rendered_graph(wire_graph, "Long", 9).splitlines() if line.startswith("News Long"))
    assert len(line) < 200


def test_rows_name_nodes_by_their_names(wire_graph: GrowingGraph) -> None:
    found = wire_graph.query("SELECT ?c WHERE { ?c a type:Company }")
    assert rendered_rows(found) == "Company helixon inc."
    assert rendered_rows(found, node_names(wire_graph)) == "Helixon Inc."
    both = wire_graph.query("SELECT ?c ?country WHERE { ?c a type:Company ; prop:country ?country }")
    assert rendered_rows(both, node_names(wire_graph)) == "c=Helixon Inc.; country=Germany"


def test_a_query_is_shown_what_the_graph_holds_of_its_question(wire_graph: GrowingGraph) -> None:
    text = types_for(wire_graph, "Which company issued HLXN?", 2)
    assert text.splitlines() == [
        "type:Asset: rdfs:label, prop:symbol (code)",
        "type:Company: rdfs:label, prop:name (legal name), prop:country (based)",
        "edge:issued_by: Asset -> Company",
    ]
    assert "type:Sector" in types_for(wire_graph, "Which industry is it?", 1)
