"""Events of companies, each with all of its reports: two documents about one layoff report one event.

    found = events_by_company(graph, lambda node: is_fresh(node, today))[NodeKey("Company", "Calderstone plc")]
    found[0].kind, found[0].direction, len(found[0].reports)      # ("layoff", "negative", 2)

A graph keeps one node for each report, with its source. Reports of one company, kind and direction within some days
are of one event, unless they name different other parties. A report needs content: a kind other than ``other``, a
direction or a figure; what has none stays in the graph and is no event here. A report that an act failed supersedes the
earlier events of the company and kind with the same party: they are one affair. ``freshness.json`` has the days for
which events of a kind are fresh, and within which reports are of one event.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path

from kg.growing import GrowingGraph, Node, NodeKey

NEUTRAL, OTHER = "neutral", "other"

DEFAULT_DAYS, TOGETHER_DAYS = 30, 3
"""Days for which an event of an unknown kind, or an insight, is fresh; and within which reports are of one event."""


@cache
def _days() -> dict[str, dict[str, int]]:
    """Returns for each kind of events the ``days`` for which it is fresh, and those of reports ``together``."""
    days: dict[str, dict[str, int]] = json.loads(Path(__file__).with_name("freshness.json").read_text(encoding="utf-8"))
    return days


def is_fresh(event: Node, today: date) -> bool:
    """Whether an event counts on a day."""
    most = _days()["days"].get(str(event.properties.get("type", "")), DEFAULT_DAYS)
    return 0 <= (today - event_date(event)).days <= most


def event_date(node: Node) -> date:
    """The day of an event, of a news item or of an insight."""
    for name in ("occurred_at", "published_at", "generated_at"):
        if name in node.properties:
            return date.fromisoformat(str(node.properties[name])[:10])
    return date.min + timedelta(days=1)


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

    @property
    def day(self) -> date:
        """The day of its first report."""
        return event_date(self.reports[0])

    @property
    def failed(self) -> bool:
        """Whether it is the end of an act: a bid that was withdrawn."""
        return any(_failed(node) for node in self.reports)

    @property
    def parties(self) -> frozenset[str]:
        """The names of those who take part besides the company, in lower case."""
        return frozenset(str(node.properties["party"]).lower() for node in self.reports if "party" in node.properties)

    def has(self, report: Node, direction: str) -> bool:
        """Whether a later report is of this event."""
        near = (event_date(report) - self.day).days <= _days()["together"].get(self.kind, TOGETHER_DAYS)
        agrees = NEUTRAL in (direction, self.direction) or direction == self.direction
        party = str(report.properties.get("party", "")).lower()
        ends = _failed(report) == self.failed  # the end of an act is no further report of it
        return near and agrees and ends and (not party or not self.parties or party in self.parties)

    def supersedes(self, other: CompanyEvent) -> bool:
        """Whether it is the failure of what an earlier event of the same company reports."""
        if not self.failed or other.failed or other.kind != self.kind or other.day > self.day:
            return False
        return not self.parties or not other.parties or _share_a_name(self.parties, other.parties)


def standing_events(events: Iterable[CompanyEvent]) -> tuple[list[CompanyEvent], list[CompanyEvent]]:
    """Returns the events of a company that stand, and those whose failure is reported later."""
    found = list(events)
    gone = [one for one in found if any(other.supersedes(one) for other in found)]
    return [one for one in found if one not in gone], gone


def grouped_events(reports: Iterable[tuple[Node, str]]) -> list[CompanyEvent]:
    """Returns the events that some reports about one company are of, the earliest first.

    Args:
        reports: The nodes with their directions; those without content are left out.
    """
    found: list[CompanyEvent] = []
    for node, direction in sorted(reports, key=lambda pair: (event_date(pair[0]), pair[0].key.name)):
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


def _failed(node: Node) -> bool:
    return node.properties.get("outcome") == "failed"


def _share_a_name(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two groups have a name in common, one of them perhaps in short: "tarrow" of "tarrow holdings plc"."""
    return any(
        f"{one} ".startswith(f"{other} ") or f"{other} ".startswith(f"{one} ") for one in first for other in second
    )
