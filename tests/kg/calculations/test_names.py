"""Names of rows, columns and periods, and what a question asks of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kg.calculations import DerivationScorer, FinalRanker, FormScorer, ReportIndex
from kg.calculations.comparisons import LineComparisons
from kg.calculations.names import read_names, same_name
from kg.calculations.turn_search import START, DerivationConfig, TurnSearch, search_turn
from kg.errors import DataError
from kg.reports import Report
from tests.kg.calculations.pages import report_index, table_index


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
        ("which debt bears the higher rate, fixed or variable?", "options", ("fixed", "variable")),
        ("what was larger, rent, wages and taxes or fuel?", "options", ("rent", "wages and taxes", "fuel")),
        ("which of rent or wages grew?", "options", ()),
        ("in which fiscal year was it lowest?", "time", "year"),
        ("when did it peak?", "time", "when"),
        ("which region had the best year?", "time", ""),
    ],
)
def test_what_a_question_asks_of_names(question: str, field: str, value: object) -> None:
    assert getattr(read_names(question), field) == value


UNTRAINED = DerivationScorer.untrained()
TABLE = (
    ("", "2019", "2018"),
    ("north", "$ 120", "$ 100"),
    ("south", "$ 80", "$ 85"),
    ("west", "$ 30", "$ 20"),
    ("total sales", "$ 230", "$ 205"),
)
FORMS = tuple(
    f"{name}{suffix}(A, A)" for name in ("argmax", "argmin") for suffix in ("", "_difference", "_change", "_pair")
)
CONFIG = DerivationConfig(beam_width=200, pool=400)


def scorer(weights: dict[str, float] | None, forms: tuple[str, ...] = FORMS) -> DerivationScorer:
    final = None if weights is None else FinalRanker({"ranker": 1.0} | weights)
    zeros = np.zeros((1, len(forms)), dtype=np.float32)
    return replace(UNTRAINED, forms=FormScorer(forms, {"bias": 0}, zeros), final=final)


TEXT = (
    "the fixed rate debt bears interest at 7.06% and the variable rate debt at 5.61% .",
    "the credit facility expires on may 14 , 2022 .",
)


def index() -> ReportIndex:
    return report_index(Report("ACME/2019/page_1.pdf", TEXT, TABLE, ()))


def search(
    question: str,
    weights: dict[str, float] | None = None,
    forms: tuple[str, ...] = FORMS,
    report: ReportIndex | None = None,
) -> TurnSearch:
    return search_turn(report if report is not None else index(), [question], START, scorer(weights, forms), CONFIG)


def written(question: str) -> set[str]:
    comparisons = LineComparisons(search(question).space)
    return {str(comparisons.derivation(one)) for one in comparisons.all}


def test_comparisons_are_over_whole_lines_without_totals() -> None:
    found = written("which region had the largest sales in 2019?")
    assert 'argmax("north"=120, "south"=80, "west"=30)' in found
    assert 'argmin_change("north"=(120, 100), "south"=(80, 85), "west"=(30, 20))' in found
    assert 'argmax("2019"=120, "2018"=100)' in found
    assert not any('"total sales"' in one for one in found)


@pytest.mark.parametrize(
    ("question", "program"),
    [
        ("the two smallest regions in 2019?", 'argmin(const_2, "north"=120, "south"=80, "west"=30)'),
        ("which was larger in 2019, south or west?", 'argmax("south"=80, "west"=30)'),
        ("which debt bears more interest, fixed or variable?", 'argmax("fixed"=7.06, "variable"=5.61)'),
        ("when does the credit facility expire?", 'argmax("may 14 , 2022"=2022)'),
        ("in which year does the credit facility expire?", 'argmax("2022"=2022)'),
    ],
)  # fmt: skip
def test_readings_of_a_question(question: str, program: str) -> None:
    assert program in written(question)


def test_a_comparison_becomes_the_derivation_of_its_names() -> None:
    found = search("the largest region in 2019?", {"fixed_words": 5.0, "year_fits": 5.0, "size": 12.0})
    best = found.candidates[0]
    assert len(best.derivation.numbers) == 3
    assert str(best.derivation).startswith(("argmax", "argmin"))
    assert len(best.sources) == 3
    assert found.next_histories(5)[0].turns[0].derivation == best.derivation


def test_things_of_a_choice_are_compared_where_the_templates_of_names_find_nothing() -> None:
    pairs = ("argmax_pair(A, A)", "argmin_pair(A, A)", "argmax(A, A)", "argmin(A, A)")
    question = "which debt bears more interest, fixed or variable?"
    found = search(question, {"options": 9.0}, pairs, table_index(text=TEXT[:1]))
    assert {("fixed",), ("variable",)} <= {one.answer for one in found.candidates}


def test_the_weights_are_saved_and_read() -> None:
    model = FinalRanker({"form": 1.5, "size": -0.25}, "here")
    assert FinalRanker.from_dict(model.to_dict()) == model
    saved = DerivationScorer.from_json(scorer({"form": 1.5}).to_json())
    assert saved.final == FinalRanker({"ranker": 1.0, "form": 1.5})
    with pytest.raises(DataError, match="no feature"):
        FinalRanker.from_dict({"weights": {"colour": 1.0}, "fitted_on": ""})
