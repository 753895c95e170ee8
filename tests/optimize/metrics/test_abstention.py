"""Metrics of programs that may abstain, against figures worked out by hand."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kg.errors import DataError
from optimize.metrics.abstention import AnswerScore, abstention_figures, answers_match, read_gold, risk_coverage


def test_gold_answers_are_numbers_words_names_or_nothing() -> None:
    assert read_gold("5.4%") == Decimal("0.054")
    assert read_gold("$ 1,234.5") == Decimal("1234.5")
    assert read_gold(12) == Decimal(12)
    assert read_gold("Yes") == "yes"
    assert read_gold(["2006", "Goodwill"]) == ("2006", "Goodwill")
    assert read_gold(None) is None


@pytest.mark.parametrize("value", ["goodwill", "", "nan", []])
def test_other_gold_answers_are_refused(value: object) -> None:
    with pytest.raises(DataError, match="a gold answer must"):
        read_gold(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        (Decimal("0.0540001"), Decimal("0.054"), True),
        (Decimal("0.05402"), Decimal("0.054"), False),
        (Decimal("5.4"), Decimal("0.054"), False),
        (Decimal(0), Decimal("-0.000001"), True),
        ("yes", "yes", True),
        (Decimal(1), "yes", False),
        (("LEO P. DENAULT",), ("leo p . denault",), True),
        (("2006",), ("december 31, 2006",), True),
        (("plan a ( 1 )", "2006"), ("12/31/2006", "plan a"), True),
        (("2006", "2006"), ("2006", "2007"), False),
        (Decimal(2006), ("2006",), True),
        (("a", "b"), ("a",), False),
        (("b", "a"), ("a", "b"), True),
        (("a",), ("a", "b"), False),
        (("2006",), Decimal(2006), False),
    ],
)
def test_an_answer_matches_its_gold(answer: object, gold: object, right: bool) -> None:
    assert answers_match(answer, gold) is right  # type: ignore[arg-type]


TURNS = [
    AnswerScore(Decimal(10), 0.9, Decimal(10)),  # right
    AnswerScore(("2008",), 0.8, ("2009",)),  # wrong name
    AnswerScore(None, 0.3, ("goodwill",)),  # abstained, though the page says it
    AnswerScore(None, 0.2, None),  # abstained rightly
    AnswerScore(Decimal(3), 0.8, None),  # answered what the page does not say
]


def test_figures_of_a_program_that_abstains() -> None:
    assert abstention_figures(TURNS) == {
        "answered_share": pytest.approx(3 / 5),
        "accuracy_when_answered": pytest.approx(1 / 3),
        "abstained_right": pytest.approx(1 / 2),
        "abstained_wrong": pytest.approx(1 / 3),
        "name_accuracy": 0.0,
        # Bin 0.9: one turn, right; bin 0.8: two turns, wrong.
        "expected_calibration_error": pytest.approx((0.1 + 1.6) / 3),
    }


def test_figures_over_no_turn_are_left_out() -> None:
    assert abstention_figures([]) == {}
    assert abstention_figures([AnswerScore(None, 0.1, Decimal(1))]) == {"answered_share": 0.0, "abstained_wrong": 1.0}


def test_the_risk_grows_with_the_coverage() -> None:
    points = [tuple(point.values()) for point in risk_coverage(TURNS)]
    assert points == [(0.9, 1 / 5, 0.0), (0.8, 3 / 5, 2 / 3)]
    assert risk_coverage([]) == []
    assert risk_coverage([AnswerScore(None, 0.9, None)]) == []
