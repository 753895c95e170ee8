"""Briefings: events and insights about what a user holds or watches, one for each instrument.

>>> briefings(graph, portfolio, date(2026, 11, 20))[0].text
'You hold 120 HLXN. Helixon Inc.: signal to buy (strength 0.7): Orders and a raised outlook point upwards.'

Portfolio and investment profile are read from tables and never enter the graph. A language model may order briefings by
the profile; it changes neither what happened nor what is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import dspy

from kg.growing import GrowingGraph, Node, NodeKey, node_term
from kg.investments import CompanyEvent, events_by_company, insights_about, is_fresh
from kg.news import number_of, stored_passages
from signatures.news import OrderBriefings


@dataclass(frozen=True)
class Portfolio:
    """The instruments that a user holds and watches.

    Attributes:
        held: Symbols with the number of shares.
        watched: Symbols.
        profile: The investment profile in words; empty if the tables have none.
    """

    held: dict[str, float]
    watched: tuple[str, ...] = ()
    profile: str = ""

    @property
    def symbols(self) -> tuple[str, ...]:
        """All symbols; what is held comes first."""
        return tuple(dict.fromkeys((*self.held, *self.watched)))


def issuers(graph: GrowingGraph, portfolio: Portfolio) -> dict[str, NodeKey]:
    """Returns the companies that issued the instruments of a portfolio, by symbol."""
    symbols = {NodeKey("Asset", symbol): symbol for symbol in portfolio.symbols}
    found = {symbols[edge.source]: edge.target for edge in graph.edges(kind="issued_by") if edge.source in symbols}
    return {symbol: found[symbol] for symbol in portfolio.symbols if symbol in found}


def symbol_problems(graph: GrowingGraph, portfolio: Portfolio) -> list[str]:
    """Returns a message for each symbol of a portfolio that no company of the graph issued.

    >>> symbol_problems(graph, Portfolio({"HLXN": 120.0, "XYZ": 3.0}))
    ['no company of the graph has the symbol XYZ']
    """
    known = issuers(graph, portfolio)
    return [f"no company of the graph has the symbol {symbol}" for symbol in portfolio.symbols if symbol not in known]


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
        text: The insight in words, or without one the number of events.
        citations: The IRIs of the insight and of the reports that it cites, or without one of all reports.
        kind: signal, observation or pattern; empty without an insight.
        action: buy, sell or hold for a signal; else empty.
        strength: How far the events bear the insight out, in [0, 1].
        note: What of the profile it bears on.
        events: The fresh events, the newest first.
    """

    symbol: str
    held: bool
    text: str
    citations: tuple[str, ...]
    kind: str = ""
    action: str = ""
    strength: float = 0.0
    note: str = ""
    events: tuple[BriefedEvent, ...] = ()


def briefings(graph: GrowingGraph, portfolio: Portfolio, today: date) -> list[Briefing]:
    """Returns a briefing for each instrument with a fresh event; what is held comes before what is watched.

    Args:
        graph: The graph.
        portfolio: What is held and watched.
        today: The current day.
    """
    events = events_by_company(graph, lambda node: is_fresh(node, today))
    publishers = {passage.document: passage.publisher for passage in stored_passages(graph)}
    found = []
    for symbol, company in issuers(graph, portfolio).items():
        if company not in events:
            continue
        own = sorted(events[company], key=lambda event: event.period, reverse=True)
        shares = portfolio.held.get(symbol)
        whose = f"You hold {shares:g} {symbol}" if shares is not None else f"You watch {symbol}"
        briefed = tuple(_briefed(event, company, publishers) for event in own)
        keys, text = [report.key for event in own for report in event.reports], f"{len(own)} events"
        about: dict[str, Any] = {}
        if stored := insights_about(graph, company, today):
            node, grounds = stored[0]
            (text, about), keys = _insight(node), [node.key, *sorted(grounds, key=str)]
        cited = tuple(node_term(key).value for key in keys)
        text = f"{whose}. {company.name}: {text}"
        found.append(Briefing(symbol, shares is not None, text, cited, events=briefed, **about))
    return found


def _insight(node: Node) -> tuple[str, dict[str, Any]]:
    """Returns an insight in words, and its kind, action and strength."""
    given = node.properties
    kind, action, strength = str(given["type"]), str(given.get("action") or ""), float(given.get("strength", 0))
    words = f"{kind}{f' to {action}' if action else ''} (strength {strength:.2g}): {given['summary']}"
    return words, {"kind": kind, "action": action, "strength": strength}


class OrderByProfile(dspy.Module):
    """Orders briefings as an investment profile asks for, with notes: one call.

    Attributes:
        order: Its predictor.
    """

    needs_lm = True

    def __init__(self) -> None:
        super().__init__()
        self.order = dspy.Predict(OrderBriefings)

    def forward(self, given: Sequence[Briefing], profile: str) -> dspy.Prediction:
        """Returns all briefings as ``briefings``; those that the model does not name come last, in their order."""
        lines = (f"[{number}] {one.text.partition('. ')[2]}" for number, one in enumerate(given, 1))
        reply = self.order(profile=profile, briefings="\n".join(lines))
        notes = dict(zip(reply.order, [*reply.notes, *[""] * len(reply.order)], strict=False))
        places = dict.fromkeys(
            [*(number for number in reply.order if 0 < number <= len(given)), *range(1, len(given) + 1)]
        )
        ordered = [replace(given[number - 1], note=notes.get(number, "")) for number in places]
        return dspy.Prediction(briefings=ordered)


def _briefed(event: CompanyEvent, company: NodeKey, publishers: dict[str, str]) -> BriefedEvent:
    """Returns an event with its documents."""
    texts = {node.key: _text(node, company) for node in event.reports}
    sources = (
        EventSource(document, publishers[document], str(node.properties["occurred_at"])[:10], texts[node.key])
        for node in event.reports
        for document in node.sources
        if document in publishers
    )
    citations = tuple(node_term(node.key).value for node in event.reports)
    first, differing = texts[event.reports[0].key], _differing(event.reports, publishers)
    return BriefedEvent(event.when, event.kind, event.direction, first, citations, tuple(sources), differing)


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
