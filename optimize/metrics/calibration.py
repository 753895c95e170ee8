"""Calibration of confidences: the expected calibration error, and the most confident part of the turns.

    >>> expected_calibration_error([0.9, 0.9, 0.1], [True, True, False])
    0.1
    >>> most_confident([0.1, 0.9, 0.6, 0.7], 0.5)
    [1, 3]

The risk-coverage curve is in :mod:`optimize.metrics.abstention`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kg.errors import ConfigError

BINS = 10
"""Bins of equal width into which confidences fall for the calibration error."""

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Shares of the turns, the most confident first, over which an evaluation reports the accuracy."""


def expected_calibration_error(confidences: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """Returns the mean difference between confidence and accuracy, over bins of equal width weighted by their turns.

    Args:
        confidences: Probabilities in [0, 1], at least one.
        right: Whether each turn is right.
        bins: The number of bins.

    Returns:
        In [0, 1]; 0 if the accuracy of every bin is its mean confidence.

    Raises:
        ConfigError: The lists are empty, differ in length, or a confidence is not a probability.
    """
    probabilities, correct = _checked(confidences, right)
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    gaps = np.abs(np.bincount(place, probabilities, bins) - np.bincount(place, correct, bins))
    return float(gaps.sum() / counts.sum())


def most_confident(confidences: Sequence[float], share: float) -> list[int]:
    """Returns the places of the most confident share of the turns, at least one; ties in the order of the turns."""
    order = np.argsort(-np.array(confidences), kind="stable")
    return [int(place) for place in order[: max(round(share * len(confidences)), 1)]]


def _checked(confidences: Sequence[float], right: Sequence[bool]) -> tuple[np.ndarray, np.ndarray]:
    if not confidences or len(confidences) != len(right):
        raise ConfigError(
            f"confidences and right must be of one length and not empty, got {len(confidences)} and {len(right)}"
        )
    probabilities, correct = np.array(confidences, dtype=float), np.array(right, dtype=float)
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ConfigError("confidences must be probabilities in [0, 1]")
    return probabilities, correct
