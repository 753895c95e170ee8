"""Facts, names and sentences of news in a growing graph."""

from __future__ import annotations

from datetime import date

import pytest

from kg.growing import GrowingGraph, NodeKey, Origin
from kg.investments import investment_schema
from kg.news import (
    Fact,
    NewsDocument,
    add_news_types,
    applicable,
    compared,
    days_in,
    fact_updates,
    known_companies,
    known_names,
    passage_updates,
    plain_name,
    stored_facts,
    stored_passages,
    value_of,
)

ORVANE = NodeKey("Company", "Orvane Inc.")


@pytest.fixture
def graph() -> GrowingGraph:
    graph = GrowingGraph(None, investment_schema())
    add_news_types(graph)
    return graph


def state(graph: GrowingGraph, day: int, *rows: tuple[str, str, str, str], name: str = "") -> None:
    """Writes facts of a document: subject, relation, object and its kind."""
    document = NewsDocument(name or f"{day}.txt", f"News {name}{day}", "Wire", date(2026, 11, day), "A text. Of two.")
    published = document.published.isoformat()
    facts = [
        Fact(subject, "company", relation, value, kind, "A text.", document.name, published)
        for subject, relation, value, kind in rows
    ]
    pairs, problems = applicable(graph, [*passage_updates(document), *fact_updates(facts, document)])
    assert problems == []
    graph.apply([update for update, _ in pairs], Origin(document.name))


def test_facts_are_stored_with_their_documents(graph: GrowingGraph) -> None:
    for day, town in ((3, "Oslo"), (5, "Bergen")):
        state(graph, day, ("Orvane Inc.", "headquartered_in", town, "place"))
    stored = {(fact.value, fact.published_at, fact.sentence) for fact in stored_facts(graph)}
    assert stored == {("Oslo", "2026-11-03", "A text."), ("Bergen", "2026-11-05", "A text.")}


def test_some_facts_are_of_the_types_of_the_graph_too(graph: GrowingGraph) -> None:
    rows = (("ticker", "ORV", "ticker"), ("country", "Norway", "place"), ("sector", "Energy", "name"))
    state(graph, 3, *(("Orvane Inc.", *row) for row in rows), ("Orvane Inc.", "also_called", "Orva", "name"))
    node = graph.node(ORVANE)
    assert node is not None
    assert (node.properties["ticker"], node.properties["country"]) == ("ORV", "Norway")
    edges = {(edge.type, str(edge.source), str(edge.target)) for edge in graph.edges(ORVANE)}
    assert ("issued_by", "Asset(ORV)", "Company(Orvane Inc.)") in edges
    assert ("in_sector", "Company(Orvane Inc.)", "Sector(Energy)") in edges
    assert known_companies(graph) == {"Orvane Inc.": ("ORV", "Orva")}
    assert known_names(graph)["orva"] == known_names(graph)["orv"] == ("company", "Orvane Inc.")
    state(graph, 4, ("Orvane Inc.", "country", "Chile", "place"))  # a differing value replaces the stored one
    node = graph.node(ORVANE)
    assert node is not None
    assert node.properties["country"] == "Chile"


def test_sentences_are_stored_as_they_were_published(graph: GrowingGraph) -> None:
    state(graph, 3)
    texts = [(one.place, one.text, one.publisher) for one in stored_passages(graph)]
    assert sorted(texts) == [(-1, "News 3", "Wire"), (0, "A text.", "Wire"), (1, "Of two.", "Wire")]


DAY = date(2026, 5, 6)  # a Wednesday


@pytest.mark.parametrize(
    ("span", "value"),
    [
        ("on 4 May", "2026-05-04"),
        ("December 3", "2025-12-03"),
        ("4th of May 2025", "2025-05-04"),
        ("early June 2026", "2026-06"),
        ("Monday morning", "2026-05-04"),
        ("next Friday", "2026-05-08"),
        ("yesterday", "2026-05-05"),
        ("2026-13-01", "2026-13-01"),
        ("no more than 400,000", "400,000"),
        ("between 1.7 and 1.8 billion kroner", "1.7 to 1.8 billion kroner"),
        ("about EUR 14 million", "EUR 14 million"),
        ("Orvane Semiconductor", "Orvane Semiconductor"),
    ],
)
def test_a_span_as_an_answer(span: str, value: str) -> None:
    assert value_of(span, DAY) == value


def test_the_days_of_a_sentence() -> None:
    text = "It sold 12 boats in May, will close on 9 October 2026 and opened in 1998."
    assert [(text[start:end], day) for start, end, day in days_in(text, DAY)] == [
        ("May", "2026-05"),
        ("9 October 2026", "2026-10-09"),
        ("1998", "1998"),
    ]


def test_amounts_are_compared_by_number_and_names_without_legal_form() -> None:
    assert compared("$2.1 billion") == compared("2,100 million dollars")
    assert compared("The Derby Group plc") == compared("Derby group")
    assert compared("12 people") != compared("12,000 people")
    assert plain_name("The Ána Reis") == "ana reis"
