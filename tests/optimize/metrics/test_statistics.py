"""Intervals and paired tests, against cases that can be worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pytest

from kg.errors import ConfigError, DataError
from optimize.metrics.abstention import AnswerScore, abstention_figures, read_gold, risk_coverage
from optimize.metrics.comparison import holm, mcnemar
from optimize.metrics.turns import exact_match, expected_calibration_error, with_intervals


def interval(
    hits: Sequence[float], most: Sequence[float] | None = None, groups: Sequence[int] | None = None, **options: int
) -> tuple[float, ...]:
    """A figure with its bounds; each turn is a group of its own by default."""
    groups = range(len(hits)) if groups is None else groups
    return tuple(with_intervals(groups, {"x": (hits, most)}, **{"seed": 0, **options}).values())


def test_the_same_seed_gives_the_same_interval() -> None:
    hits, most = list(range(50)), list(range(50, 100))
    assert interval(hits, most, seed=1) == interval(hits, most, seed=1)
    assert interval(hits, most, seed=1) != interval(hits, most, seed=2)


def test_against_the_normal_approximation() -> None:
    _, low, high = interval([1.0] * 600 + [0.0] * 400, resamples=4000)
    half = 1.96 * math.sqrt(0.6 * 0.4 / 1000)
    assert (low, high) == pytest.approx((0.6 - half, 0.6 + half), abs=0.003)


def test_turns_that_stand_or_fall_together_widen_the_interval() -> None:
    right = [i // 10 % 2 for i in range(200)]
    together, apart = interval(right, groups=[i // 10 for i in range(200)]), interval(right)
    assert together[2] - together[1] > 2 * (apart[2] - apart[1])


def test_a_figure_that_few_turns_or_none_count_for() -> None:
    assert interval([1] + [0] * 49, [2] + [0] * 49, resamples=100) == (0.5, 0.5, 0.5)
    assert interval([0], [0]) == ()


def test_what_cannot_be_resampled() -> None:
    with pytest.raises(ConfigError, match="at least one turn, got none"):
        interval([])
    with pytest.raises(ConfigError, match="resamples must be at least 100, got 99"):
        interval([1], resamples=99)


def test_the_paired_difference_is_surer_than_two_intervals() -> None:
    generator = np.random.default_rng(0)
    first = [float(easy) for easy in generator.random(300) < 0.5]
    second = [float(easy or index % 20 == 0) for index, easy in enumerate(first)]
    groups = [index // 3 for index in range(300)]
    value, low, high = interval([after - before for before, after in zip(first, second, strict=True)], groups=groups)
    alone = interval(second, groups=groups)
    assert value == pytest.approx(sum(second) / 300 - sum(first) / 300)
    assert low > 0
    assert high - low < (alone[2] - alone[1]) / 2


@pytest.mark.parametrize(
    ("first_only", "second_only", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 5, 1.0), (0, 5, 2 / 32), (9, 1, 2 * 11 / 1024), (1, 9, 2 * 11 / 1024), (6, 5, 1.0)],
)
def test_mcnemar(first_only: int, second_only: int, p: float) -> None:
    assert mcnemar(first_only, second_only) == pytest.approx(p)


def test_holm_corrects_step_by_step() -> None:
    # By hand: 0.01 * 3, 0.02 * 2, then 0.04 * 1 held up to 0.04; in the order they came in.
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.03, 0.03]) == pytest.approx([0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_calibration_error_is_the_mean_gap_of_the_bins() -> None:
    assert expected_calibration_error([0.75] * 4, [True, True, True, False]) == pytest.approx(0)
    assert expected_calibration_error([1.0, 0.0], [True, False]) == 0
    # Bin 0.9: two turns, 0.05 above one right of two; bin 0.2: one turn at 0.25, wrong.
    assert expected_calibration_error([0.9, 0.95, 0.25], [True, False, False]) == pytest.approx((0.85 + 0.25) / 3)
    # Within a bin an overestimate and an underestimate make up for each other; over bins they do not.
    assert expected_calibration_error([0.91, 0.99], [True, False], bins=1) == pytest.approx(0.45)
    assert expected_calibration_error([0.9, 0.1], [False, True]) == pytest.approx(0.9)


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ConfigError, match="of one length and not empty, got 0 and 0"):
        expected_calibration_error([], [])
    with pytest.raises(ConfigError, match="got 1 and 2"):
        expected_calibration_error([0.5], [True, False])
    with pytest.raises(ConfigError, match=r"probabilities in \[0, 1\]"):
        expected_calibration_error([1.5], [True])


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
    assert exact_match(answer, gold) is right  # type: ignore[arg-type]


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
