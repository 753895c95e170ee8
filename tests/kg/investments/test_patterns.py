from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from kg.errors import DataError
from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, Origin, Update
from kg.investments import (
    Freshness,
    derive_correlations,
    derive_insights,
    derive_patterns,
    insights_about,
    investment_schema,
)

TODAY = date(2026, 6, 30)


def _event(company: str, kind: str, day: date, direction: str = "negative") -> list[Update]:
    event = AddNode("MarketEvent", f"{company} {kind} {day}", {"type": kind, "summary": kind, "occurred_at": str(day)})
    node = AddNode("Company", company)
    return [event, node, AddEdge("affects", event.key, node.key, {"direction": direction})]


@pytest.fixture
def graph(tmp_path: Path) -> GrowingGraph:
    return GrowingGraph(tmp_path / "graph", investment_schema())


def test_three_events_of_one_kind_are_a_pattern_that_says_its_method_and_limits(graph: GrowingGraph) -> None:
    for month in (2, 4):
        graph.apply(_event("Tarrant Mills", "lawsuit", date(2026, month, 3)), Origin("a"))
    assert list(derive_patterns(graph, TODAY)) == []
    graph.apply(_event("Tarrant Mills", "lawsuit", date(2026, 6, 3)), Origin("a"))
    (updates,) = derive_patterns(graph, TODAY)
    insight = updates[0]
    assert isinstance(insight, AddNode)
    assert insight.name == "Tarrant Mills: 3 lawsuit events from 2026-02-03 to 2026-06-03"
    assert insight.properties["type"] == "pattern"
    assert "method:" in str(insight.properties["summary"])
    assert "limits:" in str(insight.properties["summary"])
    assert sum(isinstance(one, AddEdge) and one.type == "derived_from" for one in updates) == 3
    graph.apply(updates, Origin("insights"))
    assert list(derive_patterns(graph, TODAY)) == []


def test_one_direction_at_three_companies_of_a_sector_is_a_pattern(graph: GrowingGraph) -> None:
    for name in ("Ardent", "Bray", "Cole"):
        sector = [AddNode("Sector", "Textiles"), AddNode("Company", name)]
        edge = AddEdge("in_sector", NodeKey("Company", name), NodeKey("Sector", "Textiles"))
        graph.apply([*sector, edge, *_event(name, "guidance", date(2026, 6, 1))], Origin("a"))
    names = [updates[0].key.name for updates in derive_patterns(graph, TODAY)]  # type: ignore[union-attr]
    assert names == ["Textiles: negative events at 3 companies from 2026-06-01 to 2026-06-01"]


def test_prices_that_move_together_are_correlated_with_an_interval(graph: GrowingGraph) -> None:
    graph.apply([AddNode("Asset", "AAA", {"symbol": "AAA"}), AddNode("Asset", "BBB", {"symbol": "BBB"})], Origin("a"))
    days = [date(2026, 4, 1) + timedelta(number) for number in range(40)]
    first = {day: 100.0 + (number % 7) for number, day in enumerate(days)}
    second = {day: 2 * close for day, close in first.items()}
    (updates,) = derive_correlations(graph, {"AAA": first, "BBB": second}, TODAY)
    insight, edge = updates[0], updates[1]
    assert isinstance(insight, AddNode)
    assert isinstance(edge, AddEdge)
    assert edge.properties["coefficient"] == 1.0
    assert "39 days" in str(insight.properties["summary"])
    few = {day: first[day] for day in days[:10]}
    assert list(derive_correlations(graph, {"AAA": few, "BBB": second}, TODAY)) == []


def test_freshness_differs_by_kind_of_event(graph: GrowingGraph) -> None:
    graph.apply(_event("Ardent", "rating", TODAY - timedelta(20)), Origin("a"))
    assert list(derive_insights(graph, TODAY)) == []
    assert len(list(derive_insights(graph, TODAY, Freshness({"rating": 21})))) == 1
    graph.apply(_event("Bray", "merger", TODAY - timedelta(90)), Origin("a"))
    assert len(list(derive_insights(graph, TODAY))) == 1


def test_no_kind_is_fresh_for_less_than_a_day() -> None:
    with pytest.raises(DataError, match="freshness of rating must be at least 1 day, got 0"):
        Freshness({"rating": 0})


def test_an_insight_is_shown_while_its_events_are_fresh_and_none_says_more(graph: GrowingGraph) -> None:
    asset = AddNode("Asset", "TRM", {"symbol": "TRM"})
    graph.apply([asset, *_event("Tarrant Mills", "rating", date(2026, 6, 20))], Origin("a"))
    graph.apply([AddEdge("issued_by", asset.key, NodeKey("Company", "Tarrant Mills"))], Origin("a"))

    def shown(**days: int) -> list[str]:
        freshness = Freshness(days)
        for updates in list(derive_insights(graph, TODAY, freshness)):
            graph.apply(updates, Origin("insights"))
        found = insights_about(graph, "TRM", TODAY, freshness)
        return [insight.key.name.partition(": ")[2].partition(" events")[0] for insight, _ in found]

    assert shown() == ["0 good and 1 bad of 1"]
    graph.apply(_event("Tarrant Mills", "lawsuit", date(2026, 6, 25)), Origin("b"))
    assert shown() == ["0 good and 2 bad of 2"]
    assert shown(rating=3) == ["0 good and 1 bad of 1"]  # the lawsuit alone
    assert shown(rating=3, lawsuit=3) == []
