"""Briefings: news about what a user holds or watches, one for each instrument.

>>> briefings(graph, portfolio, date(2026, 11, 20))[0].text
'You hold 120 HLXN. Helixon Inc.: 2 good and 0 bad of 2 events from ...; signal to buy (strength 0.7).'

Portfolio and investment profile are read from tables and never enter the graph. A profile changes the order and what is
shown, never what happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from kg.errors import DataError
from kg.growing import GrowingGraph, Node, NodeKey, node_term
from kg.investments import event_date, grouped_events, insights_about
from kg.news import number_of, stored_passages
from kg.text import tokens
from programs.advisor.reading import event_kinds

TOLERANCES = ("conservative", "moderate", "aggressive")


@dataclass(frozen=True)
class Profile:
    """A user's investment profile.

    Attributes:
        risk_tolerance: conservative, moderate or aggressive.
        horizon: As written: "10 years", "18 months", "long".
        goals: Goals as words; those that name a kind of event matter.
        preferences: Preferences by name, likewise.

    Raises:
        DataError: The risk tolerance is none of the three.
    """

    risk_tolerance: str = "moderate"
    horizon: str = ""
    goals: tuple[str, ...] = ()
    preferences: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.risk_tolerance not in TOLERANCES:
            raise DataError(f"risk_tolerance must be one of {', '.join(TOLERANCES)}, got {self.risk_tolerance!r}")

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of events that goals and preferences name: "dividends" names the kind ``dividend``."""
        liked = [name for name, value in self.preferences.items() if value]
        words = set(tokens(" ".join((*self.goals, *liked)).replace("_", " ")))
        return frozenset(kind for kind in event_kinds() if words.issuperset(tokens(kind.replace("_", " "))))


@dataclass(frozen=True)
class Portfolio:
    """The instruments that a user holds and watches.

    Attributes:
        held: Symbols with the number of shares.
        watched: Symbols.
        profile: The investment profile, if the tables have one.
    """

    held: dict[str, float]
    watched: tuple[str, ...] = ()
    profile: Profile | None = None


def symbol_problems(graph: GrowingGraph, portfolio: Portfolio) -> list[str]:
    """Returns a message for each symbol of a portfolio about which the graph can hold no insight.

    >>> symbol_problems(graph, Portfolio({"HLXN": 120.0, "XYZ": 3.0}))
    ['no company of the graph has the symbol XYZ']

    Args:
        graph: The graph. Insights are about its instruments.
        portfolio: The holdings and the watch-list; what is held comes first.
    """
    symbols = dict.fromkeys((*portfolio.held, *portfolio.watched))
    missing = [symbol for symbol in symbols if graph.node(NodeKey("Asset", symbol)) is None]
    return [f"no company of the graph has the symbol {symbol}" for symbol in missing]


_LEAST = {"conservative": 0.0, "moderate": 0.0, "aggressive": 0.6}
"""The least strength of what is shown by risk tolerance; who takes risks is spared weak observations."""


@dataclass(frozen=True)
class EventSource:
    """A document that reports an event: its name, who published it, its day, and the sentence that states the event."""

    document: str
    publisher: str
    day: str
    sentence: str


@dataclass(frozen=True)
class BriefedEvent:
    """An event that a briefing rests on, with all documents that report it.

    Attributes:
        day: The day of its first report, ``2026-10-22``.
        kind: Its kind: earnings, rating and others.
        direction: positive, negative or neutral for the company.
        text: What happened, as the first document states it.
        citations: The IRIs of its reports in the graph.
        sources: The documents that report it, the earliest first.
        differing: Figures that the documents state differently: "1,200 (Harbour Wire) / 900 (Quay Post)".
    """

    day: str
    kind: str
    direction: str
    text: str
    citations: tuple[str, ...]
    sources: tuple[EventSource, ...] = ()
    differing: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The event, what its documents state differently, and each document with its sentence."""
        first = f"{self.day} {self.kind.replace('_', ' ')}, {self.direction}: {self.text}"
        differing = (f"    the sources differ: {self.differing}",) if self.differing else ()
        cited = (
            f"    source: {one.document}, {one.publisher or 'no publisher'}, {one.day}"
            + ("" if one.sentence == self.text else f": {one.sentence}")
            for one in self.sources
        )
        return (first, *differing, *cited)


@dataclass(frozen=True)
class Briefing:
    """News about an instrument that a user holds or watches.

    Attributes:
        symbol: The instrument.
        held: Whether it is held; else it is watched.
        text: The news in words.
        citations: The IRIs of the insight and of its events in the graph.
        action: buy, sell or hold for a signal; else ``""``.
        strength: The insight's confidence in [0, 1].
        notes: Remarks of the profile on it.
        events: The events that it rests on, the newest first.
    """

    symbol: str
    held: bool
    text: str
    citations: tuple[str, ...]
    action: str = ""
    strength: float = 0.0
    notes: tuple[str, ...] = ()
    events: tuple[BriefedEvent, ...] = ()


def briefings(graph: GrowingGraph, portfolio: Portfolio, today: date) -> list[Briefing]:
    """Returns a briefing for each instrument with a fresh insight; what is held comes before what is watched.

    Args:
        graph: The graph.
        portfolio: What is held and watched.
        today: The current day.
    """
    found = []
    for symbol in dict.fromkeys((*portfolio.held, *portfolio.watched)):
        insights = insights_about(graph, symbol, today)
        if not insights:
            continue
        insight, edges = insights[0]  # the newest, which has the events of those before it
        held = portfolio.held.get(symbol)
        whose = f"You hold {held:g} {symbol}" if held is not None else f"You watch {symbol}"
        action, strength = str(insight.properties.get("action") or ""), float(insight.properties.get("strength", 0))
        signal = f"; signal to {action}" if action else ""
        citations = (node_term(key).value for key in (insight.key, *(edge.target for edge in edges)))
        events = tuple(_events(graph, [edge.target for edge in edges]))
        text = f"{whose}. {insight.key.name}{signal} (strength {strength:.2g})."
        found.append(Briefing(symbol, held is not None, text, tuple(citations), action, strength, events=events))
    return found


def _events(graph: GrowingGraph, keys: Sequence[NodeKey]) -> Iterator[BriefedEvent]:
    """Yields the events that some nodes report, the newest first."""
    reports: dict[NodeKey, list[tuple[Node, str]]] = {}
    for node in (node for key in keys if key.type == "MarketEvent" and (node := graph.node(key)) is not None):
        for edge in graph.edges(node.key):
            if edge.type == "affects" and edge.source == node.key:
                direction = str(edge.properties.get("direction", "neutral"))
                reports.setdefault(edge.target, []).append((node, direction))
    publishers = {passage.document: passage.publisher for passage in stored_passages(graph)}
    found = []
    for company, own in reports.items():
        for event in grouped_events(own):
            texts = {node.key: _text(node, company) for node in event.reports}
            sources = [
                EventSource(document, publishers.get(document, ""), event_date(node).isoformat(), texts[node.key])
                for node in event.reports
                for document in node.sources
                if document in publishers
            ]
            citations = tuple(node_term(node.key).value for node in event.reports)
            differing = _differing(event.reports, publishers)
            text = texts[event.reports[0].key]
            found.append(
                BriefedEvent(
                    event.day.isoformat(), event.kind, event.direction, text, citations, tuple(sources), differing
                )
            )
    yield from sorted(found, key=lambda event: (event.day, event.text), reverse=True)


def _text(event: Node, company: NodeKey) -> str:
    """Returns the sentence of an event, without the name of the company before it."""
    return str(event.properties.get("summary", event.key.name)).removeprefix(f"{company.name}: ")


def _differing(reports: Sequence[Node], publishers: dict[str, str]) -> str:
    """Returns the figures of the reports of one event, where they differ; else an empty text."""
    stated: dict[Any, str] = {}
    for node in (node for node in reports if "value" in node.properties and node.sources):
        value, document = str(node.properties["value"]), node.sources[0]
        stated.setdefault(number_of(value), f"{value} ({publishers.get(document) or document})")
    return " / ".join(stated.values()) if len(stated) > 1 else ""


def shaped(given: Sequence[Briefing], profile: Profile) -> list[Briefing]:
    """Returns briefings as a profile asks for them, the most important first.

    A conservative user gets those with bad news about holdings before all others.
    """
    least = _LEAST[profile.risk_tolerance]
    noted = [
        replace(one, notes=(*one.notes, *_notes(one, profile)))
        for one in given
        if one.strength >= least or one.action == "sell"
    ]
    return sorted(noted, key=lambda one: (not _comes_first(one, profile), -_weight(one, profile)))


def _comes_first(briefing: Briefing, profile: Profile) -> bool:
    """Whether a briefing has bad news about a holding of a user who avoids risks."""
    is_bad = briefing.action == "sell" or any(event.direction == "negative" for event in briefing.events)
    return profile.risk_tolerance == "conservative" and briefing.held and is_bad


def _weight(briefing: Briefing, profile: Profile) -> float:
    matters = bool(profile.kinds & {event.kind for event in briefing.events})
    return briefing.strength + float(briefing.held) + float(matters)


def _notes(briefing: Briefing, profile: Profile) -> Iterator[str]:
    if _comes_first(briefing, profile):
        yield "first, because you are conservative and this is bad news about a holding"
    matter = sorted(profile.kinds & {event.kind for event in briefing.events})
    if matter:
        yield f"bears on your goals: {', '.join(matter)} events"
