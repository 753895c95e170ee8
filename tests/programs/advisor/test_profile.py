from __future__ import annotations

import pytest

from kg.errors import DataError
from kg.growing import NodeKey
from programs.advisor import Briefing, Profile
from programs.advisor.profile import shaped


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
