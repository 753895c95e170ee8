from __future__ import annotations

from dataclasses import replace

import pytest

from kg.errors import DataError
from kg.growing import NodeKey
from programs.advisor import Briefing, Profile
from programs.advisor.briefings import BriefedEvent, by_symbol
from programs.advisor.shaping import left_out, shaped


def _briefing(symbol: str, action: str, strength: float, *kinds: str, held: bool = True) -> Briefing:
    text = f"You hold 1 {symbol}. News" + (f"; signal to {action}" if action else "") + "."
    key = NodeKey("Insight", symbol)
    return Briefing(symbol, held, text, (key,), ("urn:x",), action, strength, kinds)


def test_who_avoids_risks_hears_bad_news_first_and_no_weak_signal_to_buy() -> None:
    given = [_briefing("AAA", "buy", 0.6, "product"), _briefing("BBB", "sell", 0.6, "lawsuit")]
    found = shaped(given, Profile("conservative"))
    assert [one.symbol for one in found] == ["BBB", "AAA"]
    assert "signal to buy" not in found[1].text
    assert any("conservative" in note for note in found[0].notes)


def test_who_takes_risks_is_spared_weak_observations() -> None:
    given = [_briefing("AAA", "", 0.5, "other"), _briefing("BBB", "buy", 0.6, "product")]
    assert [one.symbol for one in shaped(given, Profile("aggressive"))] == ["BBB"]


def test_goals_and_horizon_are_noted() -> None:
    given = [_briefing("AAA", "", 0.5, "rating"), _briefing("BBB", "", 0.5, "dividend")]
    found = shaped(given, Profile("moderate", "10 years", ("income",)))
    assert [one.symbol for one in found] == ["BBB", "AAA"]
    assert found[0].notes == ("bears on your goals: dividend events",)
    assert found[1].notes == ("short-lived news beside your horizon of 10 years",)


@pytest.mark.parametrize(("text", "years"), [("18 months", 1.5), ("10 years", 10.0), ("long", 10.0), ("", None)])
def test_a_horizon_is_read_in_years(text: str, years: float | None) -> None:
    assert Profile(horizon=text).years == years


def test_an_unknown_tolerance_is_refused() -> None:
    with pytest.raises(DataError, match="risk_tolerance must be one of"):
        Profile("reckless")


def _with_events(briefing: Briefing, *directions: str) -> Briefing:
    names = [f"urn:{briefing.symbol}:{place}" for place, _ in enumerate(directions)]
    events = (
        BriefedEvent("2026-11-03", "layoff", way, "News", (name,)) for name, way in zip(names, directions, strict=True)
    )
    keys = (NodeKey("MarketEvent", name) for name in names)
    cited, citations = (*briefing.cited, *keys), (*briefing.citations, *names)
    return replace(briefing, events=tuple(events), cited=cited, citations=citations)


def test_who_avoids_risks_gets_bad_news_without_a_signal_first_too() -> None:
    good = _with_events(_briefing("AAA", "", 0.5, "dividend"), "positive")
    watched = _with_events(_briefing("BBB", "sell", 0.9, "dividend", held=False), "negative", "negative")
    mixed = _with_events(_briefing("CCC", "", 0.5, "layoff"), "positive", "negative")
    found = shaped([good, watched, mixed], Profile("conservative", goals=("income",)))
    assert found[0].symbol == "CCC"
    assert "first, because you are conservative" in found[0].notes[0]


def test_what_a_profile_leaves_out_is_counted_and_shown_on_demand() -> None:
    given = [
        _with_events(_briefing("AAA", "", 0.5, "layoff"), "positive", "negative"),
        _with_events(_briefing("BBB", "buy", 0.6, "product"), "positive"),
    ]
    profile = Profile("aggressive")
    assert left_out(given, shaped(given, profile)) == {"AAA": 2}
    whole = shaped(given, profile, whole=True)
    assert {one.symbol for one in whole} == {"AAA", "BBB"}
    assert left_out(given, whole) == {}


def test_a_symbol_has_one_block_with_each_event_once() -> None:
    signal = _with_events(_briefing("AAA", "sell", 0.6, "layoff"), "negative", "negative")
    pattern = replace(signal, text="You hold 1 AAA. A pattern.", action="", strength=0.7, events=signal.events[:1])
    pattern = replace(pattern, cited=(NodeKey("Insight", "other"), *signal.cited[1:]))
    pattern = replace(pattern, citations=("urn:y", *signal.citations[1:]))
    (found,) = by_symbol([pattern, signal])
    assert found.text == "You hold 1 AAA. A pattern. News; signal to sell."
    assert (found.action, found.strength, len(found.events)) == ("sell", 0.7, 2)
    assert found.citations == ("urn:y", "urn:x", *signal.citations[1:])
