"""Insights by rules: what recent events say of a company, as nodes that cite the events.

    Insight(Helixon Inc.: 2 good events from 2026-10-22 to 2026-10-22) about Company(Helixon Inc.), Asset(HLXN)
        type signal, action buy, strength 0.7; derived_from both events

Two or more events that point one way, and none that points the other, make a signal; anything else is an observation.
Reports of one event count once (:mod:`kg.investments.events`). An event whose failure is reported later, as a bid that
lapsed, does not count and is cited as superseded.
The rule is there to show how insights are derived and cited; it is no advice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date

from kg.growing import AddEdge, AddNode, Edge, GrowingGraph, Node, NodeKey, Update
from kg.investments.events import (
    DEFAULT_DAYS,
    CompanyEvent,
    event_date,
    events_by_company,
    is_fresh,
    standing_events,
)

_ACTIONS = {"positive": "buy", "negative": "sell"}


def derive_insights(graph: GrowingGraph, today: date) -> Iterator[list[Update]]:
    """The updates that add one insight a company with fresh events, or a further report to one that is there.

    Args:
        graph: The graph.
        today: The date by which freshness is judged.
    """
    issued: dict[NodeKey, list[NodeKey]] = defaultdict(list)
    for edge in graph.edges(kind="issued_by"):
        issued[edge.target].append(edge.source)
    for company, events in events_by_company(graph, lambda node: is_fresh(node, today)).items():
        insight = _insight(company, events, today)
        reports = [node.key for event in events for node in event.reports]
        about = [AddEdge("about", insight.key, key) for key in (company, *issued[company])]
        if graph.node(insight.key) is None:
            yield [insight, *about, *(AddEdge("derived_from", insight.key, report) for report in reports)]
        elif further := set(reports) - {edge.target for edge in graph.edges(insight.key)}:
            yield [AddEdge("derived_from", insight.key, report) for report in reports if report in further]


def _insight(company: NodeKey, events: Sequence[CompanyEvent], today: date) -> AddNode:
    standing, gone = standing_events(events)
    ways = [event.direction for event in standing]
    good, bad = ways.count("positive"), ways.count("negative")
    days = sorted(event.day for event in events)
    name = f"{company.name}: {good} good and {bad} bad of {len(ways)} events from {days[0]} to {days[-1]}"
    name += f", {len(gone)} superseded" if gone else ""
    way = "positive" if good > 1 and not bad else "negative" if bad > 1 and not good else None
    properties: dict[str, object] = {
        "type": "signal" if way else "observation",
        "summary": f"{name}: " + "; ".join([*_names(standing), *(f"superseded: {one}" for one in _names(gone))]),
        "strength": round(min(0.5 + 0.1 * max(good, bad), 0.9), 2) if way else 0.5,
        "generated_at": today.isoformat(),
    }
    if way:
        properties["action"] = _ACTIONS[way]
    return AddNode("Insight", name, properties)


def _names(events: Sequence[CompanyEvent]) -> list[str]:
    return sorted(event.reports[0].key.name for event in events)


def insights_about(graph: GrowingGraph, symbol: str, today: date) -> list[tuple[Node, list[Edge]]]:
    """The fresh insights about an instrument, newest first, each with the edges to what it was derived from.

    An insight is fresh for :data:`DEFAULT_DAYS`, and as long as all of its events are. One whose events are some of
    those of another is left out, since the other says more.

    Args:
        graph: The graph.
        symbol: The instrument's symbol.
        today: The date by which freshness is judged.
    """
    found = []
    for edge in graph.edges(NodeKey("Asset", symbol), kind="about"):
        node = graph.node(edge.source)
        if node is None or not 0 <= (today - event_date(node)).days <= DEFAULT_DAYS:
            continue
        edges = list(graph.edges(edge.source, kind="derived_from"))
        events = [graph.node(other.target) for other in edges if other.target.type == "MarketEvent"]
        if all(event is not None and is_fresh(event, today) for event in events):
            found.append((node, edges))
    targets = [{edge.target for edge in edges} for _, edges in found]
    fullest = (pair for pair, own in zip(found, targets, strict=True) if not any(own < other for other in targets))
    return sorted(fullest, key=lambda pair: (event_date(pair[0]), pair[0].key.name), reverse=True)
