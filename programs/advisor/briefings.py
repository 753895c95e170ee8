"""Portfolios and briefings: news about what a user holds or watches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from kg.growing import NodeKey

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
        }


def briefing_text(symbol: str, portfolio: Portfolio, properties: Mapping[str, Any], age: int) -> str:
    """Returns an insight in words for the owner of a portfolio."""
    whose = f"You hold {portfolio.held[symbol]:g} {symbol}" if symbol in portfolio.held else f"You watch {symbol}"
    action = f"; signal to {properties['action']}" if "action" in properties else ""
    when = "today" if age == 0 else f"{age} day{'s' if age > 1 else ''} ago"
    return f"{whose}. {properties['summary']}{action} (strength {properties['strength']}, derived {when})."


def price_note(symbol: str, found: tuple[date, float] | None, source: str) -> str:
    """Returns the last price of an instrument in words, with its source."""
    if found is None:
        return f"no price of {symbol} in {source}"
    return f"{symbol} closed at {found[1]:g} on {found[0]} ({source})"
