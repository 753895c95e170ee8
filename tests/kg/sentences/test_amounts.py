from __future__ import annotations

from datetime import date

import pytest

from kg.sentences import amounts, measures, noun_class

DAY = date(2026, 6, 8)


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("It seeks damages of EUR 14 million.", "money", ["14 million euros"]),
        ("It cost 18 million pounds and saves 7 million a year.", "money", ["18 million pounds", "7 million pounds"]),
        ("Sales were $283 million in 2025 and $259 million in 2024.", "money", ["$283 million", "$259 million"]),
        ("They recall 41k vans.", "count", ["41000"]),
        ("It filed for bankruptcy in November.", "date", ["2025-11"]),
        ("It will file for bankruptcy in November.", "date", ["2026-11"]),
    ],
)
def test_amounts_have_their_currency_and_days_their_year(text: str, kind: str, values: list[str]) -> None:
    assert [one.value for one in amounts(text, DAY) if one.kind == kind] == values


def test_the_noun_of_a_part_is_counted() -> None:
    counts = amounts("It will shut one of Brindle's three furnaces and save 1,900 of 2,600 jobs.", DAY)
    assert [(one.value, one.noun) for one in counts] == [
        ("1", "furnaces"),
        ("3", "furnaces"),
        ("1900", "jobs"),
        ("2600", "jobs"),
    ]


def test_measures_have_a_unit() -> None:
    found = measures("After a three-day strike it spilled about 300 tonnes of oil, and was shut for 47 minutes.")
    assert [(one.kind, one.value) for one in found] == [
        ("duration", "3 days"),
        ("measure", "300 tonnes"),
        ("duration", "47 minutes"),
    ]


def test_classes_of_nouns_leave_names_out() -> None:
    assert (noun_class("curator"), noun_class("salary"), noun_class("paul")) == ("person", "possession", "")
