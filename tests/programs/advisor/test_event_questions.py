"""Questions about the events of a growing graph: their direction, kind, time and companies."""

from __future__ import annotations

import pytest

from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, entity_view
from kg.growing.graph import Origin
from kg.investments import investment_schema
from kg.news.aliases import separation_updates
from kg.news.memory import add_news_types
from kg.questions import EntityGraph
from programs.worlds.entities import EntityWorld

GOOD = {"direction": "positive"}


@pytest.fixture
def graph() -> GrowingGraph:
    """Three events of two companies; the first one's company has a short name and a ticker."""
    graph = GrowingGraph(None, investment_schema())
    add_news_types(graph)
    bank, mill = NodeKey("Company", "Brightmoor Bank plc"), NodeKey("Company", "Tarn Mill Ltd")
    told = (
        ("Suit", "lawsuit", "2026-03-04", (bank, "negative")),
        ("Loan", "offering", "2025-12-01", (bank, "positive")),
        ("Sale", "merger", "2026-03-09", (mill, "negative")),
    )
    updates: list[AddNode | AddEdge] = [
        AddNode("Company", bank.name, {"ticker": "BRMB"}),
        AddNode("Company", mill.name, {}),
        AddNode("Alias", "the Moor", {"name": "the Moor"}),
        AddEdge("alias_of", NodeKey("Alias", "the Moor"), bank),
    ]
    for name, kind, day, (company, direction) in told:
        updates += [
            AddNode("MarketEvent", name, {"type": kind, "summary": name, "occurred_at": day}),
            AddEdge("affects", NodeKey("MarketEvent", name), company, {"direction": direction}),
        ]
    graph.apply(updates, Origin("wire"))
    return graph


def asked(graph: GrowingGraph, question: str) -> object:
    """Returns the answer, days without their time."""
    view: EntityGraph = entity_view(graph)
    answer = EntityWorld(view).answered(question).answer
    return tuple(one.removesuffix("T00:00:00Z") for one in answer) if isinstance(answer, tuple) else answer


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("What negative events were there?", ("Sale", "Suit")),
        ("negative events about Brightmoor Bank", ("Suit",)),
        ("bad events in March", ("Sale", "Suit")),
        ("List the good events of BRMB", ("Loan",)),
        ("Which companies had negative events?", ("Brightmoor Bank plc", "Tarn Mill Ltd")),
        ("What happened to the Moor in 2025?", ("Loan",)),
        ("What events happened in December?", ("Loan",)),
        ("Which takeovers affect Tarn Mill?", ("Sale",)),
        ("When did the last event that affects Brightmoor Bank happen?", ("2026-03-04",)),
        ("Were there any negative events about Tarn Mill in March 2026?", "yes"),
    ],
)
def test_events_are_asked_for_by_direction_kind_month_and_short_name(
    graph: GrowingGraph, question: str, answers: object
) -> None:
    assert asked(graph, question) == answers


def test_an_event_with_two_directions_has_none(graph: GrowingGraph) -> None:
    affected = AddEdge("affects", NodeKey("MarketEvent", "Sale"), NodeKey("Company", "Brightmoor Bank plc"), GOOD)
    graph.apply([affected], Origin("wire"))
    assert asked(graph, "What negative events were there?") == ("Suit",)


def test_a_name_of_two_companies_and_one_that_was_taken_back_are_none(graph: GrowingGraph) -> None:
    mill, bank = NodeKey("Company", "Tarn Mill Ltd"), NodeKey("Company", "Brightmoor Bank plc")
    graph.apply([AddNode("Alias", "Tarn", {}), AddEdge("alias_of", NodeKey("Alias", "Tarn"), mill)], Origin("wire"))
    assert asked(graph, "What happened to Tarn?") == ("Sale",)
    graph.apply(separation_updates(graph, "Tarn", mill), Origin("hand"))
    assert asked(graph, "What happened to Tarn?") is None
    graph.apply([AddEdge("alias_of", NodeKey("Alias", "the Moor"), mill)], Origin("wire"))
    assert asked(graph, "What happened to the Moor?") is None
    assert asked(graph, f"What happened to {bank.name}?") == ("Loan", "Suit")
