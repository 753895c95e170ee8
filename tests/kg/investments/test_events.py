"""Events with all of their reports: what is one event, and what has no content."""

from __future__ import annotations

from datetime import date

import pytest

from kg.growing import AddEdge, AddNode, GrowingGraph, Node, NodeKey, Origin
from kg.investments import insights_about, investment_schema, is_fresh
from kg.investments.events import grouped_events

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


def test_the_end_of_an_act_is_an_event_of_its_own() -> None:
    offer, lapse = report("offers", "merger", "2026-10-20"), report("lapses", "merger", "2026-10-21", outcome="failed")
    assert len(grouped_events([(offer, "neutral"), (lapse, "neutral")])) == 2


def test_an_event_of_a_month_has_no_day_until_another_report_has_one() -> None:
    october, exact = report("in October", "site", "2026-10"), report("on 17 October", "site", "2026-10-17")
    [event] = grouped_events([(october, "positive")])
    assert event.when == "2026-10"
    assert [is_fresh(october, day) for day in (date(2026, 9, 30), date(2026, 10, 2), date(2026, 12, 29))] == [
        False,
        True,
        True,
    ]
    assert not is_fresh(october, date(2027, 1, 1))
    [event] = grouped_events([(october, "positive"), (exact, "positive")])
    assert (event.when, len(event.reports)) == ("2026-10-17", 2)
    assert len(grouped_events([(october, "positive"), (report("b", "site", "2026-11-07"), "positive")])) == 2


def test_a_graph_keeps_a_month_and_an_insight_with_its_grounds() -> None:
    graph = GrowingGraph(None, investment_schema())
    event = report("in October", "site", "2026-10")
    company, node = AddNode("Company", "Kintor Plc"), AddNode("MarketEvent", event.key.name, dict(event.properties))
    insight = AddNode("Insight", "good", {"type": "observation", "summary": "good", "generated_at": str(TODAY)})
    edges = [
        AddEdge("affects", node.key, company.key, {"direction": "positive"}),
        AddEdge("about", insight.key, company.key),
        AddEdge("derived_from", insight.key, node.key),
    ]
    graph.apply([company, node, insight, *edges], Origin("a"))
    stored = graph.node(node.key)
    assert stored is not None
    assert stored.properties["occurred_at"] == "2026-10"
    assert insights_about(graph, company.key, TODAY) == [(graph.node(insight.key), {node.key})]
    assert insights_about(graph, company.key, date(2027, 1, 1)) == []
