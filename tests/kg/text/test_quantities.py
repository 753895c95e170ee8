"""Figures and dates as cells and sentences write them."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.text.dates import find_dates
from kg.text.quantities import find_quantities


@pytest.mark.parametrize(
    ("cell", "text", "unit", "scale"),
    [
        ("206588", "206588", "plain", 1),
        ("$ 60.94", "60.94", "currency", 1),
        ("-26 ( 26 )", "-26", "plain", 1),
        ("$ -815.1 ( 815.1 )", "-815.1", "currency", 1),
        ("-$ 5.0", "-5.0", "currency", 1),
        ("( $ 0.3 )", "-0.3", "currency", 1),
        ("( 9 ) % (  % )", "-9%", "percent", 1),
        ("( 9.9% ( 9.9 % ) )", "-9.9%", "percent", 1),
        (".57% ( .57 % )", ".57%", "percent", 1),
        ("1,234,567.50", "1234567.50", "plain", 1),
        ("$ 3.5 million", "3.5", "currency", 10**6),
        ("$ 2.1bn", "2.1", "currency", 10**9),
        ("4.7 years", "4.7", "years", 1),
        ("2.5x", "2.5", "ratio", 1),
        ("\u2212 7", "-7", "plain", 1),
        ("€ 12", "12", "currency", 1),
    ],
)
def test_a_cell_of_one_figure(cell: str, text: str, unit: str, scale: int) -> None:
    (quantity,) = find_quantities(cell)
    assert (quantity.text, quantity.unit, quantity.scale) == (text, unit, scale)
    assert quantity.value == Decimal(text.removesuffix("%"))


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("1.2-1.5", ["1.2", "1.5"]),
        ("12/31/04", ["12", "31", "04"]),
        ("1.4% – 2.0%", ["1.4%", "2.0%"]),
        ("5 ( 1 )", ["5", "1"]),
        ("a net loss of ( 26 ) in the year", ["-26"]),
        ("as shown in note ( 2 ) below", ["2"]),
        ("in the year ( 2008 ) it", ["2008"]),
        ("a gain ( $ 5 million ) of", ["5"]),
        ("form 10-k of 2009", ["10", "2009"]),
        ("the “series a notes” at €253 million", ["253"]),
        ("rates of 27% ( 27 % ) and 3% ( 3 % )", ["27%", "3%"]),
        ("december 312009", ["312009"]),
        ("none", []),
    ],
)
def test_every_figure_of_a_text(text: str, figures: list[str]) -> None:
    assert [quantity.text for quantity in find_quantities(text)] == figures


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("3.5 million shares of common stock", "shares"),
        ("$ 1.20 per common share", "per-share"),
        ("rose 3 percent", "percent"),
        ("40 million dollars", "currency"),
        ("over 5 years", "years"),
        ("of 7 employees", "plain"),
    ],
)
def test_units_that_words_name(text: str, unit: str) -> None:
    assert find_quantities(text)[0].unit == unit


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("year ended june 30 2009 2008", ["2009", "2008"]),
        ("december 31 , 2009", ["2009"]),
        ("december312009", ["2009"]),
        ("12/31/04", ["2004"]),
        ("2009-10-31", ["2009"]),
        ("fy09", ["2009"]),
        ("june 30", [None]),
        ("total 2014 sales and the 2019 forecast", ["2014", "2019"]),
        ("we issued 2014 shares", []),
        ("at the end of 2014 shares rose", ["2014"]),
        ("2019", ["2019"]),
        ("$ 2014", []),
        ("1,2009", []),
    ],
)
def test_dates(text: str, years: list[str | None]) -> None:
    assert [date.year for date in find_dates(text)] == years


@given(st.text())
def test_any_text_is_read_without_error_and_spans_are_in_order(text: str) -> None:
    position = 0
    for quantity in find_quantities(text):
        assert position <= quantity.start < quantity.end <= len(text)
        assert any(map(str.isdigit, text[quantity.start : quantity.end]))
        assert quantity.value == Decimal(quantity.text.removesuffix("%"))
        position = quantity.end
    for date in find_dates(text):
        assert text[date.start : date.end] == date.text
        assert date.year is None or re.fullmatch("(19|20)[0-9]{2}", date.year)
