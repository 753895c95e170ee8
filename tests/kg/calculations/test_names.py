"""Names of rows, columns and periods, and what a question asks of them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kg.calculations.names import same_name
from kg.calculations.question_names import read_names


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Net Sales", "net sales", True),
        ("2009", "December 31, 2009", True),
        ("30-sep-2009", "2009", True),
        ("12/13", "2013", True),
        ("other assets ( b )", "Other assets", True),
        ("december 2009", "november 2009", False),
        ("sales in 2009", "2009", False),
        ("senior notes", "notes", False),
        ("november", "november 1 - 30 2017", True),
        ("november", "december 1 - 31", False),
        ("volume variance", "volume variance ( other than prices )", True),
        ("earnings ( basic )", "earnings ( diluted )", False),
    ],
)
def test_names_that_mean_the_same(one: str, other: str, same: bool) -> None:
    assert same_name(one, other) is same
    assert same_name(other, one) is same


@pytest.mark.parametrize(
    ("question", "field", "value"),
    [
        ("which were the three largest segments?", "count", 3),
        ("which year was the best?", "count", 1),
        ("revenue in the three months ended june 30?", "count", 1),
        ("who was the runner-up?", "rank", 2),
        ("sales of the second quarter", "rank", 1),
        ("rank the regions by sales", "every", True),
        ("which debt bears the higher rate, fixed or variable?", "options", ("fixed", "variable")),
        ("what was larger, rent, wages and taxes or fuel?", "options", ("rent", "wages and taxes", "fuel")),
        ("which of rent or wages grew?", "options", ()),
        ("which current assets exceed $ 400 million?", "plural", True),
        ("in what years did it fall?", "plural", True),
        ("when does the facility expire?", "demands_time", True),
        ("what about a year earlier?", "demands_time", False),
        ("in which fiscal year was it lowest?", "time", "year"),
        ("when did it peak?", "time", "when"),
        ("which region had the best year?", "time", ""),
        ("which region was largest between 2015 and 2017?", "bounds", None),
    ],
)
def test_what_a_question_asks_of_names(question: str, field: str, value: object) -> None:
    assert getattr(read_names(question), field) == value


@pytest.mark.parametrize(
    ("question", "operation", "values"),
    [
        ("which were above $ 4.5 million?", "above", [4500000]),
        ("regions with at least ten stores", "at_least", [10]),
        ("which have 300 or more?", "at_least", [300]),
        ("which lines were between 5 and 15?", "between", [5, 15]),
        ("in which months was the price under $23?", "below", [23]),
    ],
)
def test_bounds(question: str, operation: str, values: list[int]) -> None:
    bounds = read_names(question).bounds
    assert bounds is not None
    assert bounds.operation == operation
    assert [one.value * one.scale for one in bounds.figures] == [Decimal(value) for value in values]
