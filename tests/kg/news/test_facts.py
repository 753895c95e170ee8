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
    fact_updates,
    known_companies,
    known_names,
    passage_updates,
    relations,
    stored_facts,
    stored_passages,
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
    pairs, problems = applicable(graph, [*passage_updates(document), *fact_updates(graph, facts, document)])
    assert problems == []
    graph.apply([update for update, _ in pairs], Origin(document.name))


def test_a_newer_value_supersedes_an_older_one_whichever_is_read_first(graph: GrowingGraph) -> None:
    for day, town in ((3, "Oslo"), (5, "Bergen"), (4, "Moss")):
        state(graph, day, ("Orvane Inc.", "headquartered_in", town, "place"))
    until = {fact.value: fact.valid_to for fact in stored_facts(graph)}
    assert until == {"Oslo": "2026-11-05", "Bergen": "", "Moss": "2026-11-05"}
    assert relations()["headquartered_in"].single


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
