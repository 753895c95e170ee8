"""Days and months that a text names."""

from __future__ import annotations

from datetime import date

import pytest

from kg.text.dates import Period, periods, year

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
