"""What a language model is shown of a growing graph, and what is mended of its queries."""

from __future__ import annotations

import pytest

from kg.growing import GrowingGraph, Origin
from kg.investment import investment_schema
from kg.updates import AddEdge, AddNode, NodeKey
from programs.graph_text import brief_types, prefixed, rendered_graph, types_for


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


def test_a_query_is_shown_what_the_graph_holds_of_its_question(graph: GrowingGraph) -> None:
    text = types_for(graph, "Which company issued HLXN?", 2)
    assert text.splitlines() == [
        "type:Asset: rdfs:label, prop:symbol (code)",
        "type:Company: rdfs:label, prop:name (legal name), prop:country (based)",
        "edge:issued_by: Asset -> Company",
    ]
    assert "type:Sector" in types_for(graph, "Which industry is it?", 1)


def test_all_types_fit_on_a_line_each(graph: GrowingGraph) -> None:
    lines = brief_types(graph.schema).splitlines()
    assert len(lines) == 16
    assert "Sector: name, trend (bullish|bearish|neutral)" in lines
    assert "mentions: News -> any" in lines


def test_long_values_are_cut(graph: GrowingGraph) -> None:
    line = next(line for line in rendered_graph(graph, "Long", 9).splitlines() if line.startswith("News Long"))
    assert len(line) < 200


@pytest.mark.parametrize(
    ("query", "whole"),
    [
        ("SELECT ?c { ?a issued_by ?c }", "SELECT ?c { ?a edge:issued_by ?c }"),
        ('SELECT ?c { ?c country "country" }', 'SELECT ?c { ?c prop:country "country" }'),
        ("SELECT ?country { ?c prop:country ?country }", "SELECT ?country { ?c prop:country ?country }"),
        ("SELECT ?x { ?x a type:Company ; rdfs:label 'type' }", "SELECT ?x { ?x a type:Company ; rdfs:label 'type' }"),
        ("SELECT ?x { ?x <http://x/country> ?y }", "SELECT ?x { ?x <http://x/country> ?y }"),
        ("SELECT country FROM Company", "SELECT country FROM Company"),
    ],
)
def test_prefixes_that_are_missing_are_written(query: str, whole: str) -> None:
    assert prefixed(query, investment_schema()) == whole
