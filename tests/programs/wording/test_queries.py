"""What a language model is shown that writes a query, and what is mended of it."""

from __future__ import annotations

import pytest

from kg.growing.graph import GrowingGraph
from kg.investments.schema import investment_schema
from programs.wording.graphs import completed, types_for


def test_a_query_is_shown_what_the_graph_holds_of_its_question(wire_graph: GrowingGraph) -> None:
    text = types_for(wire_graph, "Which company issued HLXN?", 2)
    assert text.splitlines() == [
        "type:Asset: rdfs:label, prop:symbol (code)",
        "type:Company: rdfs:label, prop:name (legal name), prop:country (based)",
        "edge:issued_by: Asset -> Company",
    ]
    assert "type:Sector" in types_for(wire_graph, "Which industry is it?", 1)


@pytest.mark.parametrize(
    ("query", "whole"),
    [
        ("SELECT ?c { ?a issued_by ?c }", "SELECT ?c { ?a edge:issued_by ?c }"),
        ('SELECT ?c { ?c country "country" }', 'SELECT ?c { ?c prop:country "country" }'),
        ("SELECT ?country { ?c prop:country ?country }", "SELECT ?country { ?c prop:country ?country }"),
        ("SELECT ?x { ?x a type:Company ; rdfs:label 'type' }", "SELECT ?x { ?x a type:Company ; rdfs:label 'type' }"),
        ("SELECT ?x { ?x <http://x/country> ?y }", "SELECT ?x { ?x <http://x/country> ?y }"),
        ("SELECT country FROM Company", "SELECT country FROM Company"),
        ('SELECT ?x { ?x edge:in_sector "Energy" }', 'SELECT ?x { ?x edge:in_sector [ rdfs:label "Energy" ] }'),
        ('SELECT ?y { "HLXN" issued_by ?y }', 'SELECT ?y { [ rdfs:label "HLXN" ] edge:issued_by ?y }'),
        (
            'SELECT ?x { VALUES ?n { "A" "B" } ?x rdfs:label ?n }',
            'SELECT ?x { VALUES ?n { "A" "B" } ?x rdfs:label ?n }',
        ),
        ('SELECT ?y { ?x prop:a "b" . "c" prop:d ?y }', 'SELECT ?y { ?x prop:a "b" . [ rdfs:label "c" ] prop:d ?y }'),
    ],
)
def test_what_is_missing_is_written(query: str, whole: str) -> None:
    assert completed(query, investment_schema()) == whole


def test_a_query_with_a_name_for_a_node_finds_its_answer(wire_graph: GrowingGraph) -> None:
    query = completed('SELECT ?c WHERE { "HLXN" a type:Asset ; issued_by ?c }', wire_graph.schema)
    assert wire_graph.query(query).rows == (("https://w3id.org/finpath/node/Company/helixon%20inc.",),)
