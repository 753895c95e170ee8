"""Briefings: news about what a user holds or watches."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

from kg.growing import GrowingGraph, Node, NodeKey, node_term
from kg.investments import grouped_events
from kg.news import EventSource, EventSources, differing_figures
from kg.sentences import without_dateline
from programs.advisor.portfolio import Portfolio


@dataclass(frozen=True)
class BriefedEvent:
    """An event that a briefing rests on, with all documents that report it.

    Attributes:
        day: The day of its first report, ``2026-10-22``.
        kind: Its kind: earnings, rating and others.
        direction: positive, negative or neutral for the company.
        text: What happened, as the first document states it.
        citations: The IRIs of its reports in the graph.
        sources: The documents that report it, each with its publisher, its day and its sentence, the earliest first.
        differing: Figures that the documents state differently: "1,200 (Harbour Wire, 3 Nov) / 900 (Quay Post, 4 Nov)".
    """

    day: str
    kind: str
    direction: str
    text: str
    citations: tuple[str, ...]
    sources: tuple[EventSource, ...] = ()
    differing: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.day} {self.kind.replace('_', ' ')}, {self.direction}: {self.text}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The event, what its documents state differently, and each document with its sentence."""
        cited = (f"source: {one.document}, {one.publisher or 'no publisher'}, {one.day}" for one in self.sources)
        stated = ("" if one.sentence == self.text else f": {one.sentence}" for one in self.sources)
        sources = (source + sentence for source, sentence in zip(cited, stated, strict=True))
        return (
            str(self),
            *(f"    the sources differ: {text}" for text in self.differing),
            *(f"    {x}" for x in sources),
        )


@dataclass(frozen=True)
class Briefing:
    """News about an instrument that a user holds or watches.

    Attributes:
        symbol: The instrument.
        held: Whether it is held; else it is watched.
        text: The news in words.
        cited: The nodes that support it: the insight, then its events.
        citations: Their IRIs in the graph, in the same order.
        action: buy, sell or hold for a signal; else ``""``.
        strength: The insight's confidence in [0, 1].
        kinds: The kinds of its events.
        notes: What the profile changed, and the price.
        events: The events that it rests on, the newest first.
    """

    symbol: str
    held: bool
    text: str
    cited: tuple[NodeKey, ...]
    citations: tuple[str, ...]
    action: str = ""
    strength: float = 0.0
    kinds: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    events: tuple[BriefedEvent, ...] = ()

    @property
    def key(self) -> str:
        """The identity of the briefing: the instrument and the insight."""
        return f"{self.symbol} {self.cited[0]}"

    def as_record(self) -> dict[str, Any]:
        """Returns the briefing for JSON."""
        return {
            "symbol": self.symbol,
            "held": self.held,
            "text": self.text,
            "citations": list(self.citations),
            "action": self.action,
            "strength": self.strength,
            "kinds": list(self.kinds),
            "notes": list(self.notes),
            "events": [asdict(event) for event in self.events],
        }


def briefed_events(graph: GrowingGraph, keys: Sequence[NodeKey], sources: EventSources) -> tuple[BriefedEvent, ...]:
    """Returns the events that some nodes report, the newest first; a company's name before its event is left out.

    Args:
        graph: The graph.
        keys: Nodes; those that are no events do not count.
        sources: The sources of its events.
    """
    reports: defaultdict[NodeKey, list[tuple[Node, str]]] = defaultdict(list)
    for node in (node for key in keys if key.type == "MarketEvent" and (node := graph.node(key)) is not None):
        for edge in graph.edges(node.key):
            if edge.type == "affects" and edge.source == node.key and sources.holds(node):
                reports[edge.target].append((node, str(edge.properties.get("direction", "neutral"))))
    found: dict[tuple[str, ...], BriefedEvent] = {}
    for affected, own in reports.items():
        for event in grouped_events(own):
            first = event.reports[0]
            text = str(first.properties.get("summary", first.key.name)).removeprefix(f"{affected.name}: ")
            text = without_dateline(text)  # a graph of an earlier version has it
            citations = tuple(node_term(node.key).value for node in event.reports)
            stated = tuple(dict.fromkeys(source for node in event.reports for source in sources.of(node)))
            differing = differing_figures(event.reports, sources)
            briefed = BriefedEvent(
                event.day.isoformat(), event.kind, event.direction, text, citations, stated, differing
            )
            found.setdefault(citations, briefed)
    return tuple(sorted(found.values(), key=lambda event: (event.day, event.text), reverse=True))


def by_symbol(briefings: Sequence[Briefing]) -> list[Briefing]:
    """Returns one briefing for each symbol, in the order of the first ones, with each event once.

    Args:
        briefings: The briefings, the most important first.
    """
    grouped: defaultdict[str, list[Briefing]] = defaultdict(list)
    for one in briefings:
        grouped[one.symbol].append(one)
    return [_joined(found) if len(found) > 1 else found[0] for found in grouped.values()]


def _joined(found: Sequence[Briefing]) -> Briefing:
    """Returns several briefings about a symbol as one; an event whose reports another event has too is left out."""
    events = dict.fromkeys(event for one in found for event in one.events)
    sets = {event: frozenset(event.citations) for event in events}
    fullest = [event for event in events if not any(sets[event] < other for other in sets.values())]
    distinct = {sets[event]: event for event in reversed(fullest)}
    cited = dict(pair for one in found for pair in zip(one.cited[:1], one.citations[:1], strict=True))
    cited |= dict(pair for one in found for pair in zip(one.cited[1:], one.citations[1:], strict=True))
    return replace(
        found[0],
        text=" ".join((found[0].text, *(one.text.removeprefix(_whose(one.text)) for one in found[1:]))),
        cited=tuple(cited),
        citations=tuple(cited.values()),
        action=next((one.action for one in found if one.action), ""),
        strength=max(one.strength for one in found),
        kinds=tuple(sorted({kind for one in found for kind in one.kinds})),
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
        events=tuple(sorted(distinct.values(), key=lambda event: (event.day, event.text), reverse=True)),
    )


def _whose(text: str) -> str:
    """Returns the beginning of a briefing's text that has the symbol: "You watch HLXN. "."""
    match = re.match(r"You (?:hold \S+|watch) \S+\. ", text)
    return match[0] if match is not None else ""


def briefing_text(symbol: str, portfolio: Portfolio, insight: Node, age: int) -> str:
    """Returns an insight in words for the owner of a portfolio; the events that it counts are told by themselves."""
    properties = insight.properties
    stated = insight.key.name if properties.get("type") in ("signal", "observation") else properties["summary"]
    whose = f"You hold {portfolio.held[symbol]:g} {symbol}" if symbol in portfolio.held else f"You watch {symbol}"
    action = f"; signal to {properties['action']}" if "action" in properties else ""
    when = "today" if age == 0 else f"{age} day{'s' if age > 1 else ''} ago"
    return f"{whose}. {stated}{action} (strength {float(str(properties['strength'])):.2g}, derived {when})."


def price_note(symbol: str, found: tuple[date, float] | None, source: str) -> str:
    """Returns the last price of an instrument in words, with its source."""
    if found is None:
        return f"no price of {symbol} in {source}"
    return f"{symbol} closed at {found[1]:g} on {found[0]} ({source})"
