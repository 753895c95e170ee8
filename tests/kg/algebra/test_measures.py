"""Comparisons with numbers and dates."""

import pytest

from kg.algebra import bounds_of
from kg.vocabulary import words


@pytest.mark.parametrize(("text", "sign"), [("older than 60", ">"), ("younger than 60", "<"), ("older than 1950", "<")])
def test_an_age_is_larger_and_a_year_earlier_where_something_is_older(text: str, sign: str) -> None:
    assert {one.comparison for one in bounds_of(text, words(text))} == {sign}
