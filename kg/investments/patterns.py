"""Patterns over many events and over prices, as insights that say how they were found and what they cannot say.

Insight(Helixon Inc.: 3 lawsuit events from 2026-02-11 to 2026-09-30) type pattern
    summary "...; method: ...; limits: ..."
correlated(HLXN, VRNT) coefficient 0.81, period "2026-01-02 to 2026-06-30, 120 days"
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import combinations, pairwise

from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, Update
from kg.investments.events import OTHER, CompanyEvent, events_by_company
from kg.investments.freshness import event_date

YEAR = 365
REPEATED = 3
"""Events of one kind at one company that make a pattern."""

TOGETHER, WEEKS = 3, 60
"""Companies of a sector with events that point one way, and the days within which they happen."""

LEAST_DAYS = 20
"""Days with prices of both instruments that a correlation needs."""

STRONG = 0.7
"""The correlation from which there is an insight."""

_COVERED = "limits: only events that were ingested are counted, and a count is no cause"


def derive_patterns(graph: GrowingGraph, today: date) -> Iterator[list[Update]]:
    """The updates that add each new pattern: one kind of event repeated, and one direction through a sector.

    Args:
        graph: The graph.
        today: The last day that counts.
    """
    about: defaultdict[NodeKey, list[NodeKey]] = defaultdict(list)
    sectors: defaultdict[NodeKey, set[NodeKey]] = defaultdict(set)
    for edge in graph.edges():
        if edge.type == "issued_by":
            about[edge.target].append(edge.source)
        elif edge.type == "in_sector":
            sectors[edge.target].add(edge.source)
    events = events_by_company(graph, lambda node: 0 <= (today - event_date(node)).days <= YEAR)
    found = [*_repeated(events, about, today), *_together(sectors, events, about, today)]
    yield from (updates for updates in found if graph.node(updates[0].key) is None)  # type: ignore[union-attr]


def _repeated(
    events: Mapping[NodeKey, Sequence[CompanyEvent]], about: Mapping[NodeKey, Sequence[NodeKey]], today: date
) -> Iterator[list[Update]]:
    for company, own in events.items():
        by_kind: defaultdict[str, list[CompanyEvent]] = defaultdict(list)
        for event in own:
            by_kind[event.kind].append(event)
        for kind, group in by_kind.items():
            if len(group) < REPEATED or kind == OTHER:
                continue
            days = sorted(event.day for event in group)
            name = f"{company.name}: {len(group)} {kind} events from {days[0]} to {days[-1]}"
            method = f"method: events of the kind {kind} within {YEAR} days, at least {REPEATED}"
            yield _pattern(name, method, _COVERED, len(group), (company, *about.get(company, ())), group, today)


def _together(
    sectors: Mapping[NodeKey, set[NodeKey]],
    events: Mapping[NodeKey, Sequence[CompanyEvent]],
    about: Mapping[NodeKey, Sequence[NodeKey]],
    today: date,
) -> Iterator[list[Update]]:
    for sector, companies in sectors.items():
        for way in ("positive", "negative"):
            recent = {
                company: [
                    event
                    for event in events.get(company, ())
                    if event.direction == way and (today - event.day).days <= WEEKS
                ]
                for company in companies
            }
            named = sorted((company for company, own in recent.items() if own), key=lambda key: key.name)
            if len(named) < TOGETHER:
                continue
            group = [event for company in named for event in recent[company]]
            days = sorted(event.day for event in group)
            name = f"{sector.name}: {way} events at {len(named)} companies from {days[0]} to {days[-1]}"
            method = (
                f"method: companies of the sector with {way} events within {WEEKS} days, at least {TOGETHER}: "
                f"{', '.join(company.name for company in named)}"
            )
            targets = (sector, *named, *(asset for company in named for asset in about.get(company, ())))
            yield _pattern(name, method, _COVERED, len(named), targets, group, today)


def _pattern(
    name: str,
    method: str,
    limits: str,
    count: int,
    targets: Sequence[NodeKey],
    events: Sequence[CompanyEvent],
    today: date,
) -> list[Update]:
    properties = {
        "type": "pattern",
        "summary": f"{name}; {method}; {limits}",
        "strength": round(min(0.4 + 0.1 * count, 0.8), 2),
        "generated_at": today.isoformat(),
    }
    insight = AddNode("Insight", name, properties)
    edges: list[Update] = [AddEdge("about", insight.key, target) for target in dict.fromkeys(targets)]
    reports = dict.fromkeys(node.key for event in events for node in event.reports)
    return [insight, *edges, *(AddEdge("derived_from", insight.key, report) for report in reports)]


def derive_correlations(
    graph: GrowingGraph, closes: Mapping[str, Mapping[date, float]], today: date
) -> Iterator[list[Update]]:
    """The updates that add the correlation of each pair of instruments that has none.

    Args:
        graph: The graph; only instruments that it has count.
        closes: The closing prices of each symbol by day, all above 0.
        today: The last day that counts.
    """
    known = {node.key.name for node in graph.nodes("Asset")}
    joined = {frozenset((edge.source, edge.target)) for edge in graph.edges() if edge.type == "correlated"}
    for one, other in combinations(sorted(known & set(closes)), 2):
        ends = NodeKey("Asset", one), NodeKey("Asset", other)
        days = sorted(day for day in set(closes[one]) & set(closes[other]) if day <= today)
        if frozenset(ends) in joined or len(days) <= LEAST_DAYS:
            continue
        value = _correlation(_returns(closes[one], days), _returns(closes[other], days))
        if value is None:
            continue
        number = len(days) - 1
        period = f"{days[0]} to {days[-1]}, {number} days"
        edge: Update = AddEdge("correlated", *ends, {"coefficient": round(value, 2), "period": period})
        if abs(value) < STRONG:
            yield [edge]
            continue
        low, high = _interval(value, number)
        name = f"{one} and {other} move {'together' if value > 0 else 'apart'}, {days[0]} to {days[-1]}"
        summary = (
            f"{name}; method: Pearson correlation {value:.2f} of daily returns over {number} days, 95% interval "
            f"{low:.2f} to {high:.2f}; limits: a past correlation may end, and it is no cause"
        )
        properties = {
            "type": "pattern",
            "summary": summary,
            "strength": round(min(abs(low), abs(high)), 2) if low * high > 0 else 0.0,
            "generated_at": today.isoformat(),
        }
        insight = AddNode("Insight", name, properties)
        yield [insight, edge, *(AddEdge("about", insight.key, end) for end in ends)]


def _returns(closes: Mapping[date, float], days: Sequence[date]) -> list[float]:
    return [math.log(closes[after] / closes[before]) for before, after in pairwise(days)]


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Returns Pearson's correlation; ``None`` if one series never changes."""
    means = sum(one) / len(one), sum(other) / len(other)
    first, second = [value - means[0] for value in one], [value - means[1] for value in other]
    scale = math.sqrt(sum(value * value for value in first) * sum(value * value for value in second))
    if scale <= 0:
        return None
    return max(-1.0, min(1.0, sum(left * right for left, right in zip(first, second, strict=True)) / scale))


def _interval(value: float, number: int) -> tuple[float, float]:
    """Returns the 95% interval of a correlation by Fisher's transformation."""
    if abs(value) >= 1:
        return value, value
    middle, width = math.atanh(value), 1.96 / math.sqrt(number - 3)
    return math.tanh(middle - width), math.tanh(middle + width)
