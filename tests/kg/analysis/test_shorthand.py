"""Shorthand of notes and messages."""

from __future__ import annotations

import pytest

from kg.analysis import written_out


@pytest.mark.parametrize(
    ("asked", "full"),
    [
        ("of these, any w/o a broker", "of these, any without a broker"),
        ("goods w duty north of 10 %", "goods with duty north of 10 %"),
        ("the one w/ parking or w/showers", "the one with parking or with showers"),
        ("n who's hauling it", "and who's hauling it"),
        ("avg cost pls", "average cost please"),
        ("lamps over 60 w please", "lamps over 60 w please"),
        ("who is W. Brown of R&D?", "who is W. Brown of R&D?"),
        ("is Route N open", "is Route N open"),
    ],
)
def test_shorthand_is_written_out(asked: str, full: str) -> None:
    assert written_out(asked) == full
