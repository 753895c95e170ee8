"""Portfolios and briefings: news about what a user holds or watches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from kg.growing import GrowingGraph, Node, NodeKey, node_term
from kg.investments import event_date

if TYPE_CHECKING:
    from programs.advisor.profile import Profile


@dataclass(frozen=True)
class Portfolio:
    """The instruments that a user holds and watches; they are read from tables and never enter the graph.

    Attributes:
        held: Symbols with the number of shares.
        watched: Symbols.
        profile: The investment profile, if the tables have one.
    """

    held: dict[str, float]
    watched: tuple[str, ...] = ()
    profile: Profile | None = None


@dataclass(frozen=True)
class BriefedEvent:
    """An event that a briefing rests on.

    Attributes:
        day: The day on which it happened, ``2026-10-22``.
        kind: Its kind: earnings, rating and others.
        direction: positive, negative or neutral for the company.
        text: What happened.
        citation: Its IRI in the graph.
    """

    day: str
    kind: str
    direction: str
    text: str
    citation: str

    def __str__(self) -> str:
        return f"{self.day} {self.kind.replace('_', ' ')}, {self.direction}: {self.text}"


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


def briefed_events(graph: GrowingGraph, keys: Sequence[NodeKey]) -> tuple[BriefedEvent, ...]:
    """Returns the events among some nodes, the newest first; what a company's name begins is told without it."""
    found = []
    for node in (node for key in keys if key.type == "MarketEvent" and (node := graph.node(key)) is not None):
        affected = [edge for edge in graph.edges(node.key) if edge.type == "affects" and edge.source == node.key]
        names = sorted(edge.target.name for edge in affected)
        text = str(node.properties.get("summary", node.key.name))
        short = next((text.removeprefix(f"{name}: ") for name in names if text.startswith(f"{name}: ")), text)
        direction = next(
            (str(edge.properties["direction"]) for edge in affected if "direction" in edge.properties), "neutral"
        )
        kind = str(node.properties.get("type", "other"))
        found.append(BriefedEvent(event_date(node).isoformat(), kind, direction, short, node_term(node.key).value))
    return tuple(sorted(found, key=lambda event: (event.day, event.text), reverse=True))


def briefing_text(symbol: str, portfolio: Portfolio, insight: Node, age: int) -> str:
    """Returns an insight in words for the owner of a portfolio; the events that it counts are told by themselves."""
    properties = insight.properties
    stated = insight.key.name if properties.get("type") in ("signal", "observation") else properties["summary"]
    whose = f"You hold {portfolio.held[symbol]:g} {symbol}" if symbol in portfolio.held else f"You watch {symbol}"
    action = f"; signal to {properties['action']}" if "action" in properties else ""
    when = "today" if age == 0 else f"{age} day{'s' if age > 1 else ''} ago"
    return f"{whose}. {stated}{action} (strength {properties['strength']}, derived {when})."


def price_note(symbol: str, found: tuple[date, float] | None, source: str) -> str:
    """Returns the last price of an instrument in words, with its source."""
    if found is None:
        return f"no price of {symbol} in {source}"
    return f"{symbol} closed at {found[1]:g} on {found[0]} ({source})"
