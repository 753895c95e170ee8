"""Figures and dates as cells and sentences write them."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.text.dates import Period, find_dates, periods, year
from kg.text.number_formats import english_sentence, english_table, is_continental
from kg.text.quantities import find_number_words, find_quantities


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
    assert [found.year for found in find_dates(text)] == years


@given(st.text())
def test_any_text_is_read_without_error_and_spans_are_in_order(text: str) -> None:
    position = 0
    for quantity in find_quantities(text):
        assert position <= quantity.start < quantity.end <= len(text)
        assert any(map(str.isdigit, text[quantity.start : quantity.end]))
        assert quantity.value == Decimal(quantity.text.removesuffix("%"))
        position = quantity.end
    for found in find_dates(text):
        assert text[found.start : found.end] == found.text
        assert found.year is None or re.fullmatch("(19|20)[0-9]{2}", found.year)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("seven stores", [7]),
        ("twenty-five stores", [25]),
        ("two hundred and five employees", [205]),
        ("two hundred thousand", [200_000]),
        ("three million shares of common stock", [3_000_000]),
        ("one million dollars", [1_000_000]),
        ("one of our five-year notes", []),
        ("someone often weighs a ton ; a hundred tenants", []),
        ("from four to six", [4, 6]),
    ],
)
def test_figures_in_words(text: str, values: list[int]) -> None:
    assert [value for _, _, value in find_number_words(text)] == values


@pytest.mark.parametrize("cell", ["1.234.567", "1.234,5", "1.234.567,89", "€ -4,5 %", "( 12,75 )", "9 876,5"])
def test_cells_that_can_only_be_continental(cell: str) -> None:
    assert is_continental([cell, "12.345", "7"])
    assert not is_continental([cell, "60.94"]), "a cell that can only be English decides"


def test_a_table_is_read_in_one_style() -> None:
    table = (("in tsd. €", "31.12.2019"), ("umsatz", "1 234 567"), ("kosten", "12.345"), ("marge", "-4,5 %"))
    assert english_table(table) == (
        ("in tsd. €", "31.12.2019"),
        ("umsatz", "1,234,567"),
        ("kosten", "12,345"),
        ("marge", "-4.5 %"),
    )
    english = (("", "2019"), ("sales", "12.345"), ("margin", "4.5 %"))
    assert english_table(english) is english


def test_spaces_are_between_groups_unless_a_cell_has_two_figures() -> None:
    table = (("", "2025"), ("revenue", "1 204"), ("costs", "(1 010)"), ("fleet", "− 12 500.5"), ("margin", "4.5 %"))
    assert [row[1] for row in english_table(table)] == ["2025", "1,204", "(1,010)", "− 12,500.5", "4.5 %"]
    joined = (*table, ("two columns", "214 1,980"))
    assert english_table(joined) is joined


def test_a_sentence_must_show_both_signs() -> None:
    assert english_sentence("der umsatz war 1.234,56 mio. in 2019 .") == "der umsatz war 1,234.56 mio. in 2019 ."
    for sentence in ("notes 4,5 and 6 .", "it was 12.345 .", "it was 1.234,56 or 1.5 ."):
        assert english_sentence(sentence) == sentence


@given(st.decimals(min_value=0, max_value=10**12, places=2), st.sampled_from(["{}", "€ {}", "( {} )", "{} %", "-{}"]))
def test_any_figure_is_read_as_its_english_form(figure: Decimal, form: str) -> None:
    english = form.format(f"{figure:,.2f}")
    continental = form.format(f"{figure:,.2f}".translate(str.maketrans(",.", ".,")))
    ((_, cell),) = english_table((("a", continental),))
    assert cell == english
    assert find_quantities(cell) == find_quantities(english)


DAY = Period(date(2026, 11, 3), date(2026, 11, 3))


@pytest.mark.parametrize(
    "text",
    ["3 November 2026", "November 3, 2026", "2026-11-03", "3rd Nov 2026", "the 3rd of November 2026", "3.11.2026"],
)
def test_a_day_is_written_in_several_ways(text: str) -> None:
    assert [period for _, _, period in periods(f"since {text}, which news")] == [DAY]


@pytest.mark.parametrize("text", ["21/01/2026", "01/21/2026", "21.1.2026"])
def test_with_strokes_the_larger_number_is_the_day(text: str) -> None:
    assert periods(f"on {text}.")[0][2] == Period(date(2026, 1, 21), date(2026, 1, 21))


def test_a_month_lasts_to_its_end() -> None:
    assert periods("in February 2028")[0][2] == Period(date(2028, 2, 1), date(2028, 2, 29))
    assert year(2026) == Period(date(2026, 1, 1), date(2026, 12, 31))


@pytest.mark.parametrize(
    "text", ["31 June 2026", "2026-13-01", "in 2026", "may 3 companies", "November", "02/01/2026", "1.2.2026.4"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert periods(text) == []


def test_dates_are_found_with_their_places() -> None:
    text = "between 1 November 2026 and 2026-11-06"
    assert [text[start:end] for start, end, _ in periods(text)] == ["1 November 2026", "2026-11-06"]
