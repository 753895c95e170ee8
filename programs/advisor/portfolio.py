"""A user's portfolio and investment profile, which are read from tables and never enter the graph.

>>> Profile(risk_tolerance="conservative", horizon="10 years", goals=("income",)).kinds
frozenset({'dividend'})
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kg.errors import DataError
from kg.growing import GrowingGraph, NodeKey

TOLERANCES = ("conservative", "moderate", "aggressive")

_RISKS = frozenset(
    ("lawsuit", "rating", "guidance", "investigation", "fine", "accident", "recall", "strike", "bankruptcy")
)
_GOALS = {
    "income": frozenset(("dividend",)),
    "dividend": frozenset(("dividend",)),
    "dividends": frozenset(("dividend",)),
    "growth": frozenset(("earnings", "guidance", "product", "contract", "site")),
    "preservation": _RISKS,
    "safety": _RISKS,
    "retirement": frozenset(("dividend", "guidance")),
}
"""The kinds of events that matter for a goal, by a word of the goal."""


@dataclass(frozen=True)
class Profile:
    """A user's investment profile.

    Attributes:
        risk_tolerance: conservative, moderate or aggressive.
        horizon: As written: "10 years", "18 months", "long".
        goals: Goals as words: "income".
        preferences: Preferences by name.

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
        """The kinds of events that matter for the goals and preferences."""
        liked = [name for name, value in self.preferences.items() if value]
        words = re.findall(r"[a-z]+", " ".join((*self.goals, *liked)).lower())
        return frozenset(kind for word in words for kind in _GOALS.get(word, ()))


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
