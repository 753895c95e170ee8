"""Amounts that are calculated from values, and how they are rounded."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from kg.algebra import rounded, time_between


@pytest.mark.parametrize(
    ("number", "short"),
    [("16.16666667", "16.1667"), ("2.50", "2.5"), ("40", "40"), ("1e30", "1" + 30 * "0"), ("0.00001", "0")],
)
def test_numbers_have_at_most_four_decimals(number: str, short: str) -> None:
    assert f"{rounded(Decimal(number)):f}" == short


@pytest.mark.parametrize(("unit", "length"), [("years", 1), ("months", 23), ("weeks", 104), ("days", 730)])
def test_a_time_counts_full_units(unit: str, length: int) -> None:
    assert time_between(date(2020, 3, 31), date(2022, 3, 30) if unit != "days" else date(2022, 3, 31), unit) == length
