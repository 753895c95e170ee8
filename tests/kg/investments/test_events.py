"""Events with all of their reports: what is one event, and what has no content."""

from __future__ import annotations

from datetime import date

import pytest

from kg.growing import AddEdge, AddNode, GrowingGraph, Node, NodeKey, Origin, Update
from kg.investments import derive_insights, grouped_events, insights_about, investment_schema

TODAY = date(2026, 11, 6)


def report(name: str, kind: str, day: str, **further: str) -> Node:
    properties = {"type": kind, "summary": name, "occurred_at": day, **further}
    return Node(NodeKey("MarketEvent", name), properties)


@pytest.mark.parametrize(
    ("second", "direction", "count"),
    [
        (report("b", "layoff", "2026-11-04"), "negative", 1),
        (report("b", "layoff", "2026-11-04"), "neutral", 1),
        (report("b", "layoff", "2026-11-04"), "positive", 2),
        (report("b", "layoff", "2026-11-08"), "negative", 2),  # too late
        (report("b", "recall", "2026-11-04"), "negative", 2),
        (report("b", "layoff", "2026-11-04", party="Union"), "negative", 1),
    ],
)
def test_reports_of_one_kind_direction_and_time_are_of_one_event(second: Node, direction: str, count: int) -> None:
    first = report("a", "layoff", "2026-11-03")
    assert len(grouped_events([(second, direction), (first, "negative")])) == count


def test_events_with_different_parties_or_of_a_quick_kind_are_different() -> None:
    ratings = [report(broker, "rating", "2026-11-03", party=broker) for broker in ("Corbel", "Halloran")]
    assert len(grouped_events([(one, "negative") for one in ratings])) == 2
    moves = [report(day, "share_price", day) for day in ("2026-11-03", "2026-11-04")]
    assert len(grouped_events([(one, "negative") for one in moves])) == 2


def test_a_report_without_content_is_no_event() -> None:
    bare, figure = report("a", "other", "2026-11-03"), report("b", "other", "2026-11-03", value="64")
    assert grouped_events([(bare, "neutral")]) == []
    assert len(grouped_events([(bare, "negative")])) == len(grouped_events([(figure, "neutral")])) == 1


def test_a_second_report_joins_the_insight_of_the_first() -> None:
    graph = GrowingGraph(None, investment_schema())
    asset, company = AddNode("Asset", "CLD", {"symbol": "CLD"}), AddNode("Company", "Calderstone")
    graph.apply([asset, company, AddEdge("issued_by", asset.key, company.key)], Origin("a"))
    for name, day in (("1,200 jobs", "2026-11-03"), ("900 jobs", "2026-11-04")):
        event = AddNode("MarketEvent", name, dict(report(name, "layoff", day).properties))
        updates: list[Update] = [event, AddEdge("affects", event.key, company.key, {"direction": "negative"})]
        graph.apply(updates, Origin(name))
        for found in list(derive_insights(graph, TODAY)):
            graph.apply(found, Origin("insights"))
    assert list(derive_insights(graph, TODAY)) == []
    ((insight, edges),) = insights_about(graph, "CLD", TODAY)
    assert insight.key.name == "Calderstone: 0 good and 1 bad of 1 events from 2026-11-03 to 2026-11-03"
    assert {edge.target.name for edge in edges} == {"1,200 jobs", "900 jobs"}
