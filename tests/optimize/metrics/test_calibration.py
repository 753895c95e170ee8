"""Calibration error and the most confident turns, against figures worked out by hand."""

from __future__ import annotations

import pytest

from kg.errors import ConfigError
from optimize.metrics.abstention import expected_calibration_error, most_confident


def test_what_is_right_as_often_as_it_says_has_no_error() -> None:
    assert expected_calibration_error([0.75] * 4, [True, True, True, False]) == pytest.approx(0)
    assert expected_calibration_error([1.0, 0.0], [True, False]) == 0


def test_the_error_is_the_mean_gap_of_the_bins() -> None:
    # Bin 0.9: two turns, 0.05 above one right of two; bin 0.2: one turn at 0.25, wrong.
    assert expected_calibration_error([0.9, 0.95, 0.25], [True, False, False]) == pytest.approx((0.85 + 0.25) / 3)
    # Within a bin an overestimate and an underestimate make up for each other; over bins they do not.
    assert expected_calibration_error([0.91, 0.99], [True, False], bins=1) == pytest.approx(0.45)
    assert expected_calibration_error([0.9, 0.1], [False, True]) == pytest.approx(0.9)


def test_the_most_confident_turns_come_first() -> None:
    assert most_confident([0.1, 0.9, 0.6, 0.7], 0.5) == [1, 3]
    assert most_confident([0.5, 0.5], 0.5) == [0], "ties in the order of the turns"
    assert most_confident([0.5], 0.01) == [0], "at least one turn is counted"


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ConfigError, match="of one length and not empty, got 0 and 0"):
        expected_calibration_error([], [])
    with pytest.raises(ConfigError, match="got 1 and 2"):
        expected_calibration_error([0.5], [True, False])
    with pytest.raises(ConfigError, match=r"probabilities in \[0, 1\]"):
        expected_calibration_error([1.5], [True])
