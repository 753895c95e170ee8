"""Intervals and paired tests, against cases that can be worked out by hand."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import ConfigError
from optimize.metrics.statistics import (
    bootstrap_ratio,
    bootstrap_ratios,
    expected_calibration_error,
    group_sums,
    holm,
    mcnemar,
    paired_difference,
)

GROUPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20).map(
    lambda pairs: [(min(pair), max(pair)) for pair in pairs]
)


def test_the_value_is_over_all_turns_not_the_mean_of_groups() -> None:
    assert bootstrap_ratio([3, 0, 2], [4, 2, 2], seed=0).value == 0.625


def test_the_same_seed_gives_the_same_interval() -> None:
    hits, totals = list(range(50)), list(range(50, 100))
    assert bootstrap_ratio(hits, totals, seed=1) == bootstrap_ratio(hits, totals, seed=1)
    assert bootstrap_ratio(hits, totals, seed=1) != bootstrap_ratio(hits, totals, seed=2)


def test_against_the_normal_approximation() -> None:
    hits = [1.0] * 600 + [0.0] * 400
    interval = bootstrap_ratio(hits, [1.0] * 1000, seed=0, resamples=4000)
    half = 1.96 * math.sqrt(0.6 * 0.4 / 1000)
    assert interval.low == pytest.approx(0.6 - half, abs=0.003)
    assert interval.high == pytest.approx(0.6 + half, abs=0.003)


def test_turns_that_stand_or_fall_together_widen_the_interval() -> None:
    together = bootstrap_ratio(*group_sums([i // 10 for i in range(200)], [i // 10 % 2 for i in range(200)]), seed=0)
    apart = bootstrap_ratio([i // 10 % 2 for i in range(200)], [1] * 200, seed=0)
    assert together.high - together.low > 2 * (apart.high - apart.low)


@given(GROUPS, st.integers(0, 3))
def test_laws_of_an_accuracy(groups: list[tuple[int, int]], seed: int) -> None:
    hits, totals = [hit for hit, _ in groups], [total for _, total in groups]
    if not any(totals):
        with pytest.raises(ConfigError):
            bootstrap_ratio(hits, totals, seed=seed)
        return
    interval = bootstrap_ratio(hits, totals, seed=seed, resamples=200)
    assert 0 <= interval.low <= interval.high <= 1
    assert interval.value == pytest.approx(sum(hits) / sum(totals))
    misses = bootstrap_ratio([t - h for h, t in groups], totals, seed=seed, resamples=200)
    assert misses.low == pytest.approx(1 - interval.high)


def test_a_figure_that_few_groups_have() -> None:
    intervals = bootstrap_ratios(
        {"all": ([1] * 50, [1] * 50), "last": ([1] + [0] * 49, [2] + [0] * 49)}, seed=0, resamples=100
    )
    assert intervals["last"].value == intervals["last"].low == intervals["last"].high == 0.5


@pytest.mark.parametrize(
    ("hits", "totals", "resamples", "message"),
    [
        ([1], [1, 2], 1000, "hits and totals must be of one length, got 1 and 2"),
        ([0], [0], 1000, "totals must sum to more than 0, got 0"),
        ([], [], 1000, "totals must sum to more than 0, got 0"),
        ([1], [1], 99, "resamples must be at least 100, got 99"),
    ],
)
def test_what_cannot_be_resampled(hits: list[float], totals: list[float], resamples: int, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        bootstrap_ratio(hits, totals, seed=0, resamples=resamples)


def test_the_paired_difference_is_surer_than_two_intervals() -> None:
    generator = np.random.default_rng(0)
    hard = generator.random(300) < 0.5
    first = [float(easy) for easy in hard]
    second = [float(easy or index % 20 == 0) for index, easy in enumerate(hard)]
    groups = [index // 3 for index in range(300)]
    gain = paired_difference(groups, first, second, seed=0)
    alone = bootstrap_ratio(*group_sums(groups, second), seed=0)
    assert gain.value == pytest.approx(sum(second) / 300 - sum(first) / 300)
    assert gain.low > 0
    assert gain.high - gain.low < (alone.high - alone.low) / 2
    back = paired_difference(groups, second, first, seed=0)
    assert (back.value, back.low, back.high) == pytest.approx((-gain.value, -gain.high, -gain.low))


def test_no_difference() -> None:
    same = paired_difference([1, 1, 2], [1, 0, 1], [1, 0, 1], seed=0)
    assert (same.value, same.low, same.high) == (0, 0, 0)
    with pytest.raises(ConfigError, match="groups, first and second must be of one length, got 1, 2 and 1"):
        paired_difference([1], [1, 0], [1], seed=0)


@pytest.mark.parametrize(
    ("first_only", "second_only", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 5, 1.0), (0, 5, 2 / 32), (9, 1, 2 * 11 / 1024), (1, 9, 2 * 11 / 1024), (6, 5, 1.0)],
)
def test_mcnemar(first_only: int, second_only: int, p: float) -> None:
    assert mcnemar(first_only, second_only) == pytest.approx(p)


def test_mcnemar_of_many_turns() -> None:
    # The exact test nears the normal approximation: z = 100 / sqrt(1100), with the correction for continuity.
    assert mcnemar(500, 600) == pytest.approx(math.erfc(99 / math.sqrt(1100) / math.sqrt(2)), rel=0.02)
    assert 0 < mcnemar(0, 1000) < 1e-300


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_laws(first: int, second: int) -> None:
    p = mcnemar(first, second)
    assert 0 < p <= 1
    assert p == mcnemar(second, first)
    assert p >= mcnemar(min(first, second), max(first, second) + 1)


def test_holm_corrects_step_by_step() -> None:
    # By hand: 0.01 * 3, 0.02 * 2, then 0.04 * 1 held up to 0.04; in the order they came in.
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.03, 0.03]) == pytest.approx([0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    with pytest.raises(ConfigError, match=r"p_values must be in \[0, 1\]"):
        holm([1.2])


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
