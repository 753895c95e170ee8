"""Spans of sentences as answers, and the forms in which values are compared."""

from __future__ import annotations

from datetime import date

import pytest

from kg.news import compared, days_in, plain_name, value_of

DAY = date(2026, 5, 6)  # a Wednesday


@pytest.mark.parametrize(
    ("span", "value"),
    [
        ("on 4 May", "2026-05-04"),
        ("December 3", "2025-12-03"),
        ("4th of May 2025", "2025-05-04"),
        ("early June 2026", "2026-06"),
        ("Monday morning", "2026-05-04"),
        ("next Friday", "2026-05-08"),
        ("yesterday", "2026-05-05"),
        ("2026-13-01", "2026-13-01"),
        ("no more than 400,000", "400,000"),
        ("between 1.7 and 1.8 billion kroner", "1.7 to 1.8 billion kroner"),
        ("about EUR 14 million", "EUR 14 million"),
        ("Orvane Semiconductor", "Orvane Semiconductor"),
    ],
)
def test_a_span_as_an_answer(span: str, value: str) -> None:
    assert value_of(span, DAY) == value


def test_the_days_of_a_sentence() -> None:
    text = "It sold 12 boats in May, will close on 9 October 2026 and opened in 1998."
    assert [(text[start:end], day) for start, end, day in days_in(text, DAY)] == [
        ("May", "2026-05"),
        ("9 October 2026", "2026-10-09"),
        ("1998", "1998"),
    ]


def test_amounts_are_compared_by_number_and_names_without_legal_form() -> None:
    assert compared("$2.1 billion") == compared("2,100 million dollars")
    assert compared("The Derby Group plc") == compared("Derby group")
    assert compared("12 people") != compared("12,000 people")
    assert plain_name("Dr Ána Reis") == "ana reis"
