"""Events with all of their reports: what is one event, and what has no content."""

from __future__ import annotations

from datetime import date

import pytest

from kg.growing import AddEdge, AddNode, GrowingGraph, Node, NodeKey, Origin
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


def grown(*reports: tuple[Node, str]) -> GrowingGraph:
    """A graph with the insights that are derived after each report of a company has come in."""
    graph = GrowingGraph(None, investment_schema())
    asset, company = AddNode("Asset", "KNT", {"symbol": "KNT"}), AddNode("Company", "Kintor Plc")
    graph.apply([asset, company, AddEdge("issued_by", asset.key, company.key)], Origin("a"))
    for node, direction in reports:
        event = AddNode("MarketEvent", node.key.name, dict(node.properties))
        affects = AddEdge("affects", event.key, company.key, {"direction": direction})
        graph.apply([event, affects], Origin(node.key.name))
        for updates in list(derive_insights(graph, TODAY)):
            graph.apply(updates, Origin("insights"))
    return graph


def insights_of(*reports: tuple[Node, str]) -> list[str]:
    """The action, or the type, of each insight."""
    nodes = [node for node, _ in insights_about(grown(*reports), "KNT", TODAY)]
    return [str(node.properties.get("action", node.properties["type"])) for node in nodes]


def test_a_second_report_joins_the_insight_of_the_first() -> None:
    reports = [report("1,200 jobs", "layoff", "2026-11-03"), report("900 jobs", "layoff", "2026-11-04")]
    graph = grown(*((one, "negative") for one in reports))
    assert list(derive_insights(graph, TODAY)) == []
    ((insight, edges),) = insights_about(graph, "KNT", TODAY)
    assert insight.key.name == "Kintor Plc: 0 good and 1 bad of 1 events from 2026-11-03 to 2026-11-03"
    assert {edge.target.name for edge in edges} == {"1,200 jobs", "900 jobs"}


BIDS = (
    (report("offers", "merger", "2026-10-20", party="Sable Plc"), "positive"),
    (report("raises its offer", "merger", "2026-10-26", party="Sable Plc"), "positive"),
)


@pytest.mark.parametrize(
    ("later", "insights"),
    [
        ((), ["buy"]),
        (((report("lapses", "merger", "2026-11-05", party="Sable", outcome="failed"), "negative"),), ["observation"]),
        (((report("lapses", "merger", "2026-11-05", outcome="failed"), "negative"),), ["observation"]),
        (((report("halted", "buyback", "2026-11-05", outcome="failed"), "neutral"),), ["buy"]),
        (((report("gives up", "merger", "2026-11-05", party="Hask Plc", outcome="failed"), "neutral"),), ["buy"]),
        (
            ((report("gives up", "merger", "2026-10-21", party="Sable Plc", outcome="failed"), "neutral"),),
            ["observation"],
        ),
    ],
)
def test_a_later_failure_supersedes_earlier_good_news(later: tuple[tuple[Node, str], ...], insights: list[str]) -> None:
    assert insights_of(*BIDS, *later) == insights


def test_a_superseded_event_is_cited_and_does_not_count() -> None:
    failure = report("lapses", "merger", "2026-11-05", party="Sable Plc", outcome="failed")
    further = report("shares fall", "share_price", "2026-11-05")
    assert insights_of(*BIDS, (failure, "negative"), (further, "negative")) == ["sell"]
