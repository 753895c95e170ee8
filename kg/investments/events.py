"""Events of companies, each with all of its reports, and the insights that a graph holds of them.

    found = events_by_company(graph, lambda node: is_fresh(node, today))[NodeKey("Company", "Calderstone plc")]
    found[0].kind, found[0].direction, len(found[0].reports)      # ("layoff", "negative", 2)

A graph keeps one node for each report, with its source: two documents about one layoff report one event. Reports of one
company, kind and direction within some days are of one event, unless they name different other parties or one says that
it failed. A report needs content: a kind other than ``other``, a direction or a figure; what has none is no event here.
Of an event "in October" the day is not known. ``freshness.json`` has the days for which events of a kind are fresh, and
within which reports are of one event.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from kg.graphs import read_date
from kg.growing import AddEdge, AddNode, GrowingGraph, Node, NodeKey, Update
from kg.text import Period

NEUTRAL, OTHER = "neutral", "other"

DEFAULT_DAYS, TOGETHER_DAYS = 30, 3
"""Days for which an event of an unknown kind, or an insight, is fresh; and within which reports are of one event."""


@cache
def _days() -> dict[str, dict[str, int]]:
    """Returns for each kind of events the ``days`` for which it is fresh, and those of reports ``together``."""
    days: dict[str, dict[str, int]] = json.loads(Path(__file__).with_name("freshness.json").read_text(encoding="utf-8"))
    return days


def is_fresh(event: Node, today: date) -> bool:
    """Whether an event counts on a day; where its day is not known, whether it may."""
    most = _days()["days"].get(str(event.properties.get("type", "")), DEFAULT_DAYS)
    period = event_period(event)
    return period.first <= today and (today - period.last).days <= most


def event_period(node: Node) -> Period:
    """The day of an event or an insight, or the days of the month or year where no day is known."""
    written = (node.properties[name] for name in ("occurred_at", "generated_at") if name in node.properties)
    return next(filter(None, map(read_date, map(str, written))), Period(date.min, date.min))


@dataclass(frozen=True)
class CompanyEvent:
    """An event of a company.

    Attributes:
        kind: Its kind: layoff, earnings and others.
        direction: positive, negative or neutral for the company.
        reports: Its nodes in the graph, the earliest first; at least one.
    """

    kind: str
    direction: str
    reports: tuple[Node, ...]

    def __str__(self) -> str:
        """Its day, kind and direction, and the sentences of its reports."""
        failed = ", failed" if any(map(_has_failed, self.reports)) else ""
        sentences = (str(node.properties.get("summary", node.key.name)) for node in self.reports)
        return f"{self.when} {self.kind.replace('_', ' ')}, {self.direction}{failed}: {' / '.join(sentences)}"

    @property
    def period(self) -> Period:
        """Its day as the most exact report has it, else the month or year; of equally exact ones the first."""
        return min(map(event_period, self.reports), key=lambda period: (period.last - period.first, period.first))

    @property
    def when(self) -> str:
        """Its day in the form of ISO, ``2026-10-22``; ``2026-10`` or ``2026`` where no day is known."""
        first, last = self.period.first, self.period.last
        return str(first)[: 10 if first == last else 7 if first.month == last.month else 4]

    @property
    def parties(self) -> frozenset[str]:
        """The names of those who take part besides the company, in lower case."""
        return frozenset(str(node.properties["party"]).lower() for node in self.reports if "party" in node.properties)

    def has(self, report: Node, direction: str) -> bool:
        """Whether a later report is of this event."""
        first, second = self.period, event_period(report)
        apart = max((second.first - first.last).days, (first.first - second.last).days)
        near = apart <= _days()["together"].get(self.kind, TOGETHER_DAYS)
        agrees = NEUTRAL in (direction, self.direction) or direction == self.direction
        party = str(report.properties.get("party", "")).lower()
        ends = _has_failed(report) == _has_failed(self.reports[0])  # the end of an act is no further report of it
        return near and agrees and ends and (not party or not self.parties or party in self.parties)


def grouped_events(reports: Iterable[tuple[Node, str]]) -> list[CompanyEvent]:
    """Returns the events that some reports about one company are of, the earliest first.

    Args:
        reports: The nodes with their directions; those without content are left out.
    """
    found: list[CompanyEvent] = []
    for node, direction in sorted(reports, key=lambda pair: (event_period(pair[0]), pair[0].key.name)):
        if not _has_content(node, direction):
            continue
        kind = str(node.properties.get("type", OTHER))
        alike = (place for place, one in enumerate(found) if one.kind == kind != OTHER and one.has(node, direction))
        place = next(alike, None)
        if place is None:
            found.append(CompanyEvent(kind, direction, (node,)))
        else:
            known = found[place]
            stated = direction if known.direction == NEUTRAL else known.direction
            found[place] = CompanyEvent(kind, stated, (*known.reports, node))
    return found


def events_by_company(graph: GrowingGraph, counts: Callable[[Node], bool]) -> dict[NodeKey, list[CompanyEvent]]:
    """Returns the events of each company.

    Args:
        graph: The graph.
        counts: Whether a report counts, as by its day.
    """
    nodes = {node.key: node for node in graph.nodes("MarketEvent") if counts(node)}
    reports: defaultdict[NodeKey, list[tuple[Node, str]]] = defaultdict(list)
    for edge in graph.edges(kind="affects"):
        if edge.source in nodes and edge.target.type == "Company":
            reports[edge.target].append((nodes[edge.source], str(edge.properties.get("direction", NEUTRAL))))
    grouped = {company: grouped_events(found) for company, found in reports.items()}
    return {company: events for company, events in grouped.items() if events}


def _has_content(node: Node, direction: str) -> bool:
    """Whether a report states more than that something happened."""
    return node.properties.get("type", OTHER) != OTHER or direction != NEUTRAL or "value" in node.properties


def _has_failed(report: Node) -> bool:
    """Whether a report is of the end of an act: a bid that was withdrawn."""
    return report.properties.get("outcome") == "failed"


def insights_about(graph: GrowingGraph, company: NodeKey, today: date) -> list[tuple[Node, frozenset[NodeKey]]]:
    """The insights about a company that are no older than :data:`DEFAULT_DAYS`, the newest first.

    Args:
        graph: The graph.
        company: The company.
        today: The date by which freshness is judged.

    Returns:
        Each insight with the reports that it was derived from.
    """
    nodes = (graph.node(edge.source) for edge in graph.edges(company, kind="about"))
    fresh = [node for node in nodes if node and 0 <= (today - event_period(node).first).days <= DEFAULT_DAYS]
    grounds = (frozenset(edge.target for edge in graph.edges(node.key, kind="derived_from")) for node in fresh)
    pairs = list(zip(fresh, grounds, strict=True))
    return sorted(pairs, key=lambda pair: (event_period(pair[0]), pair[0].key.name), reverse=True)


def insight_updates(
    graph: GrowingGraph, company: NodeKey, cited: Iterable[CompanyEvent], today: date, **properties: object
) -> list[Update]:
    """The updates that write an insight about a company and its instruments, derived from the reports of events.

    Args:
        graph: The graph.
        company: The company.
        cited: The events that the insight rests on.
        today: The day of the insight.
        properties: Those of an ``Insight``: type, summary, strength, action.
    """
    node = AddNode(
        "Insight", f"{company.name}, {today}: {properties['summary']}", {**properties, "generated_at": str(today)}
    )
    instruments = [edge.source for edge in graph.edges(company, kind="issued_by") if edge.target == company]
    about = [AddEdge("about", node.key, key) for key in (company, *instruments)]
    grounds = [AddEdge("derived_from", node.key, report.key) for event in cited for report in event.reports]
    return [node, *about, *grounds]
