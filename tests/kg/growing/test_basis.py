"""The facts behind the rows of a query: those of the rows that were returned, with sources and passages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, Origin, facts_behind
from kg.investments import investment_schema


@pytest.fixture(scope="module")
def graph() -> Iterator[GrowingGraph]:
    with GrowingGraph(None, investment_schema()) as made:
        for name, country, sector in (
            ("Helixon", "USA", "Chips"),
            ("Acme", "Malta", "Ships"),
            ("Borea", "USA", "Rail"),
        ):
            company = NodeKey("Company", name)
            made.apply(
                [
                    AddNode("Company", name, {"country": country}),
                    AddNode("Sector", sector),
                    AddEdge("in_sector", company, NodeKey("Sector", sector)),
                ],
                Origin(f"{name}.txt"),
                spans=[f"{name} is based in {country}.", "", f"{name} works in {sector}."],
            )
        yield made


@pytest.mark.parametrize(
    ("query", "statements"),
    [
        (
            'SELECT ?s WHERE { ?c rdfs:label "Acme" ; edge:in_sector ?x . ?x rdfs:label ?s }',
            ["Acme -> in_sector -> Ships"],
        ),
        (
            'SELECT ?s WHERE { { ?c rdfs:label "Acme" } UNION { ?c prop:country "Peru" } ?c edge:in_sector ?s }',
            ["Acme -> in_sector -> Ships"],
        ),
        ("SELECT ?s WHERE { [] edge:in_sector [ rdfs:label ?s ] }", []),
        (
            'SELECT (COUNT(?c) AS ?n) WHERE { ?c a type:Company ; prop:country "USA" }',
            ["Borea: country USA", "Helixon: country USA"],
        ),
        (
            "SELECT ?n WHERE { ?c a type:Company ; rdfs:label ?n ; prop:country ?k } ORDER BY DESC(?n) LIMIT 1",
            ["Helixon: country USA"],
        ),
        (
            'SELECT ?n WHERE { ?c a type:Company ; rdfs:label ?n FILTER NOT EXISTS { ?c prop:country "USA" } }',
            ["Acme is a Company", "Acme is known"],
        ),
        (
            (
                "SELECT ?n WHERE { ?e kg:edgeType edge:in_sector ; kg:from ?c ; kg:to ?s . ?c rdfs:label ?n . "
                '?s rdfs:label "Rail" }'
            ),
            ["Borea -> in_sector -> Rail"],
        ),
    ],
)
def test_only_the_facts_of_the_rows_are_named(graph: GrowingGraph, query: str, statements: list[str]) -> None:
    found = graph.query(query)
    assert found.rows
    assert sorted(fact.statement for fact in facts_behind(graph, found)) == statements


def test_a_fact_has_its_source_and_the_passage_that_states_it(graph: GrowingGraph) -> None:
    query = 'SELECT ?s WHERE { ?c rdfs:label "Acme" ; edge:in_sector ?x . ?x rdfs:label ?s }'
    [fact] = facts_behind(graph, graph.query(query))
    assert str(fact) == 'Acme -> in_sector -> Ships (Acme.txt: "Acme works in Ships.")'
