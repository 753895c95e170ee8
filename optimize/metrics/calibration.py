"""How far a program's confidence can be trusted: calibration error, and accuracy over the surest part of the turns.

    >>> expected_calibration_error([0.9, 0.9, 0.1], [True, True, False])
    0.1
    >>> coverage_curve([0.9, 0.6, 0.1], [True, True, False], at=(0.5, 1.0))
    {0.5: 1.0, 1.0: 0.6666666666666666}

A turn without an answer counts as one with confidence 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kg.errors import ConfigError

BINS = 10
"""Bins of equal width into which confidences fall for the calibration error."""

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Shares of the turns, the surest first, that the curve is given for."""


def expected_calibration_error(confidences: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """The mean difference between confidence and accuracy, over bins of equal width weighed by their turns.

    Args:
        confidences: Probabilities in [0, 1], at least one.
        right: Whether each turn is right.
        bins: How many bins.

    Returns:
        In [0, 1]; 0 where every bin is right as often as it says.

    Raises:
        ConfigError: The lists are empty, differ in length, or a confidence is not a probability.
    """
    sure, good = _checked(confidences, right)
    place = np.minimum((sure * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    gaps = np.abs(np.bincount(place, sure, bins) - np.bincount(place, good, bins))
    return float(gaps.sum() / counts.sum())


def coverage_curve(
    confidences: Sequence[float], right: Sequence[bool], at: Sequence[float] = COVERAGES
) -> Mapping[float, float]:
    """The accuracy over the surest turns, for shares of all turns; ties in the order of the turns.

    Args:
        confidences: Probabilities in [0, 1], at least one.
        right: Whether each turn is right.
        at: Shares in (0, 1]; each counts at least one turn.

    Raises:
        ConfigError: As :func:`expected_calibration_error` raises, or a share is not in (0, 1].
    """
    sure, good = _checked(confidences, right)
    if any(not 0 < share <= 1 for share in at):
        raise ConfigError(f"coverages must be in (0, 1], got {tuple(at)}")
    return {share: float(good[surest(sure.tolist(), share)].mean()) for share in at}


def surest(confidences: Sequence[float], share: float) -> list[int]:
    """The places of the surest turns that make up a share of all, at least one; ties in the order of the turns."""
    order = np.argsort(-np.array(confidences), kind="stable")
    return [int(place) for place in order[: max(round(share * len(confidences)), 1)]]


def _checked(confidences: Sequence[float], right: Sequence[bool]) -> tuple[np.ndarray, np.ndarray]:
    if not confidences or len(confidences) != len(right):
        raise ConfigError(
            f"confidences and right must be of one length and not empty, got {len(confidences)} and {len(right)}"
        )
    sure, good = np.array(confidences, dtype=float), np.array(right, dtype=float)
    if not ((sure >= 0) & (sure <= 1)).all():
        raise ConfigError("confidences must be probabilities in [0, 1]")
    return sure, good
