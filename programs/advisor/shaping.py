"""The effect of a profile on briefings: their order, omissions and notes.

>>> profile = Profile(risk_tolerance="conservative", horizon="10 years", goals=("income",))
>>> shaped(briefings, profile)[0].notes
('first, because you are conservative and this is bad news about a holding',)

The profile is read from tables and never enters the graph. It changes what is shown, never what happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from programs.advisor.briefings import Briefing
from programs.advisor.portfolio import Profile

_LEAST = {"conservative": 0.0, "moderate": 0.0, "aggressive": 0.6}
"""The least strength of what is shown; who takes risks is spared weak observations."""

_SIGNALS = {"conservative": 0.7, "moderate": 0.0, "aggressive": 0.0}
"""The least strength of a signal to buy; whoever avoids risks hears of weaker ones as observations only."""

_SHORT, _LONG = 2.0, 5.0
"""Years up to which a horizon is short, and from which it is long."""

_LASTING = frozenset(
    ("merger", "management", "lawsuit", "dividend", "offering", "contract", "investigation", "bankruptcy", "site")
)


def shaped(briefings: Sequence[Briefing], profile: Profile, *, whole: bool = False) -> list[Briefing]:
    """Returns the briefings as a profile asks for them, the most important first.

    A conservative user gets those with bad news about holdings before all others.

    Args:
        briefings: The briefings.
        profile: The profile.
        whole: Whether those that the profile leaves out are kept too.
    """
    least = 0.0 if whole else _LEAST[profile.risk_tolerance]
    kept = [one for one in briefings if one.strength >= least or one.action == "sell"]
    noted = [replace(_softened(one, profile), notes=(*one.notes, *_notes(one, profile))) for one in kept]
    return sorted(noted, key=lambda one: (not _comes_first(one, profile), -_weight(one, profile)))


def left_out(briefings: Sequence[Briefing], shown: Sequence[Briefing]) -> dict[str, int]:
    """Returns for each symbol the number of events that a profile left out.

    Args:
        briefings: All briefings.
        shown: Those that the profile asks for.
    """
    there = {(one.symbol, citation) for one in shown for citation in one.citations[1:]}
    counted: dict[str, dict[tuple[str, ...], None]] = {}
    for one in briefings:
        for event in one.events:
            if not all((one.symbol, citation) in there for citation in event.citations):
                counted.setdefault(one.symbol, {})[event.citations] = None
    return {symbol: len(events) for symbol, events in counted.items()}


def _comes_first(briefing: Briefing, profile: Profile) -> bool:
    """Whether a briefing has bad news about a holding of a user who avoids risks."""
    is_bad = briefing.action == "sell" or any(event.direction == "negative" for event in briefing.events)
    return profile.risk_tolerance == "conservative" and briefing.held and is_bad


def _softened(briefing: Briefing, profile: Profile) -> Briefing:
    """Returns a briefing without a weak signal to buy, where the profile avoids risks."""
    if briefing.action != "buy" or briefing.strength >= _SIGNALS[profile.risk_tolerance]:
        return briefing
    return replace(briefing, action="", text=briefing.text.replace("; signal to buy", ""))


def _weight(briefing: Briefing, profile: Profile) -> float:
    weight = briefing.strength + (1.0 if briefing.held else 0.0)
    if briefing.action == "sell":
        weight += {"conservative": 2.0, "moderate": 1.0, "aggressive": 0.0}[profile.risk_tolerance]
    if briefing.action == "buy" and profile.risk_tolerance == "aggressive":
        weight += 1.0
    return weight + (1.0 if profile.kinds & set(briefing.kinds) else 0.0)


def _notes(briefing: Briefing, profile: Profile) -> list[str]:
    found = []
    if _comes_first(briefing, profile):
        found.append("first, because you are conservative and this is bad news about a holding")
    if profile.risk_tolerance == "conservative" and briefing.action == "buy" and briefing.strength < 0.7:
        found.append("shown without its signal, because you are conservative and the signal is weak")
    matter = sorted(profile.kinds & set(briefing.kinds))
    if matter:
        found.append(f"bears on your goals: {', '.join(matter)} events")
    years = profile.years
    if years is not None and years >= _LONG and briefing.kinds and not set(briefing.kinds) & _LASTING:
        found.append(f"short-lived news beside your horizon of {profile.horizon}")
    if years is not None and years <= _SHORT and set(briefing.kinds) & {"merger", "lawsuit", "investigation"}:
        found.append(f"may take longer than your horizon of {profile.horizon}")
    return found
