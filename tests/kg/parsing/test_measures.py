"""Comparisons with numbers and dates."""

from decimal import Decimal

import pytest

from kg.parsing.measures import bounds_of
from kg.parsing.names import words
from kg.text import Period


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("older than 60", ">"),
        ("younger than 60", "<"),
        ("older than 1950", "<"),
        ("younger than 1950", ">"),
        ("in 2010 or earlier", "<="),
        ("from 2021 onwards", ">="),
    ],
)
def test_an_age_is_larger_and_a_year_earlier_where_something_is_older(text: str, sign: str) -> None:
    assert {one.comparison for one in bounds_of(text, words(text))} == {sign}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("between 5 and 10 km", [(">=", "5", "km"), ("<=", "10", "km")]),
        ("an hour and a half or longer", [(">=", "1.5", "h")]),
        ("two and a half hours or less", [("<=", "2.5", "h")]),
        ("below -60 degrees", [("<", "-60", "")]),
        ("over 40 000 zloty", [(">", "40000", "PLN")]),
        ("over 3.5 million euros", [(">", "3500000", "EUR")]),
        ("more than 2 square kilometres", [(">", "2", "km²")]),
        ("at least 100 km per hour", [(">=", "100", "km/h")]),
        ("more than half an hour", [(">", "0.5", "h")]),
        ("3 or more", [(">=", "3", "")]),
    ],
)
def test_bounds_of_numbers(text: str, expected: list[tuple[str, str, str]]) -> None:
    found = bounds_of(text, words(text))
    assert [(one.comparison, one.value, one.unit) for one in found] == [(c, Decimal(v), u) for c, v, u in expected]


@pytest.mark.parametrize("text", ["between 1919 and 1938", "from 1919 to 1938", "1919-1938", "1919 to 1938"])
def test_two_years_are_one_range(text: str) -> None:
    ranges = [one.value for one in bounds_of(text, words(text)) if isinstance(one.value, Period)]
    assert any((one.first.year, one.last.year) == (1919, 1938) for one in ranges)
    numbers = [one for one in bounds_of(text, words(text)) if isinstance(one.value, Decimal)]
    assert [(one.comparison, one.value) for one in numbers] == [(">=", 1919), ("<=", 1938)]
