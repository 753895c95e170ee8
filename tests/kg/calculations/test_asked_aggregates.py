"""The demands of questions on aggregates."""

from __future__ import annotations

import pytest

from kg.calculations import read_aggregates


@pytest.mark.parametrize(
    ("question", "functions"),
    [
        ("what did the three regions sell together?", {"sum"}),
        ("average rent per year?", {"average"}),
        ("what was the highest quarterly price?", {"max"}),
        ("how large is the gap between the smallest and the largest store?", {"max", "min", "range"}),
        ("what were sales in 2008?", set()),
    ],
)
def test_words_name_functions(question: str, functions: set[str]) -> None:
    assert read_aggregates(question).functions == functions


@pytest.mark.parametrize(
    ("question", "count", "of_time"),
    [
        ("total over the three years ended 2007", 3, True),
        ("the 5-year average", 5, True),
        ("sales of these four regions over the two years", 2, True),
        ("the sum of all three", 3, False),
        ("sales of the 12 stores?", 12, False),
        ("sales in 2008 over 3.5 million", 0, False),
        ("were there three?", 0, False),
    ],
)
def test_counts(question: str, count: int, of_time: bool) -> None:
    asked = read_aggregates(question)
    assert (asked.count, asked.of_time) == (count, of_time)


def test_ratios_changes_and_rests() -> None:
    asked = read_aggregates("rent and wages as a share of all costs")
    assert asked.ratio
    assert not asked.change
    assert read_aggregates("how much did the total grow?").change
    assert read_aggregates("total costs other than rent").rest
    assert not read_aggregates("what were total costs?").rest
