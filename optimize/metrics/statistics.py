"""Statistics of metrics: bootstrap intervals over groups, paired tests of two programs, and calibration.

The turns of a conversation depend on each other, so whole conversations are drawn::

    >>> interval = bootstrap_ratio(hits=[3, 0, 2], totals=[4, 2, 2], seed=0)
    >>> interval.value
    0.625
    >>> mcnemar(first_only=9, second_only=1)
    0.021484375
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kg.errors import ConfigError


@dataclass(frozen=True)
class Interval:
    """A figure with its 95% percentile interval: ``low <= high``."""

    value: float
    low: float
    high: float


def bootstrap_ratio(hits: Sequence[float], totals: Sequence[float], *, seed: int, resamples: int = 1000) -> Interval:
    """Returns the share of hits over all groups, with an interval from drawing whole groups with replacement.

    Args:
        hits: The sum of each group (right turns, or differences of right turns; may be negative).
        totals: The most that is possible in each group; the sum is above 0.
        seed: Of the draws; the same for any figure over the same number of groups.
        resamples: The number of draws, at least 100.

    Raises:
        ConfigError: There is no group, the lists differ in length, all totals are 0, or there are too few resamples.
    """
    return bootstrap_ratios({"": (hits, totals)}, seed=seed, resamples=resamples)[""]


def bootstrap_ratios(
    figures: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, seed: int, resamples: int = 1000
) -> dict[str, Interval]:
    """:func:`bootstrap_ratio` of several figures, each ``(hits, totals)`` over the same groups, from the same draws."""
    if resamples < 100:
        raise ConfigError(f"resamples must be at least 100, got {resamples}")
    for name, (hits, totals) in figures.items():
        if len(hits) != len(totals):
            raise ConfigError(
                f"{name} hits and totals must be of one length, got {len(hits)} and {len(totals)}".strip()
            )
        if not sum(totals) > 0:
            raise ConfigError(f"{name} totals must sum to more than 0, got {sum(totals)}".strip())
    if len({len(totals) for _, totals in figures.values()}) != 1:
        raise ConfigError("figures must all be over the same groups, and at least one")
    above = np.array([hits for hits, _ in figures.values()], dtype=float)
    below = np.array([totals for _, totals in figures.values()], dtype=float)
    drawn = _draws(below.shape[1], seed, resamples)
    intervals = {}
    for name, hits, totals in zip(figures, above, below, strict=True):
        sampled = drawn @ totals
        # A draw without any group that counts for this figure has no ratio.
        ratios = (drawn @ hits)[sampled > 0] / sampled[sampled > 0]
        low, high = np.percentile(ratios, [2.5, 97.5])
        intervals[name] = Interval(float(hits.sum() / totals.sum()), float(low), float(high))
    return intervals


def _draws(groups: int, seed: int, resamples: int) -> npt.NDArray[np.float64]:
    """Returns the count of each group in each resample, shape (resamples, groups); each row sums to ``groups``."""
    counts = np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), size=resamples)
    return counts.astype(np.float64)


def group_sums(groups: Sequence[Hashable], figures: Sequence[float]) -> tuple[list[float], list[float]]:
    """Returns the sum and the number of the figures of each group, groups in the order of their first figure."""
    sums: dict[Hashable, float] = {}
    sizes: dict[Hashable, float] = {}
    for group, figure in zip(groups, figures, strict=True):
        sums[group] = sums.get(group, 0.0) + figure
        sizes[group] = sizes.get(group, 0.0) + 1
    return list(sums.values()), list(sizes.values())


def paired_difference(
    groups: Sequence[Hashable],
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int,
    resamples: int = 1000,
) -> Interval:
    """Returns the mean of ``second`` less that of ``first`` over the same turns, with its interval.

    Both programs are drawn together, so turns that are hard for both do not widen the interval.

    Args:
        groups: The conversation of each turn.
        first: The first program's figure for each turn.
        second: The second program's figure for each turn, in the same order.
        seed: Of the draws.
        resamples: The number of draws.

    Raises:
        ConfigError: As :func:`bootstrap_ratio` raises, or the lists differ in length.
    """
    if not len(groups) == len(first) == len(second):
        raise ConfigError(
            f"groups, first and second must be of one length, got {len(groups)}, {len(first)} and {len(second)}"
        )
    gains = [after - before for before, after in zip(first, second, strict=True)]
    return bootstrap_ratio(*group_sums(groups, gains), seed=seed, resamples=resamples)


def with_intervals(
    groups: Sequence[Hashable],
    columns: Mapping[str, tuple[Sequence[float], Sequence[float] | None]],
    *,
    seed: int,
    resamples: int = 1000,
) -> dict[str, float]:
    """Returns figures under ``NAME``, with their intervals under ``NAME_low`` and ``NAME_high``.

    Args:
        groups: The conversation of each turn.
        columns: By name, the hits of each turn and the most that is possible in each; ``None`` for 1. A figure that no
            turn counts for is left out.
        seed: Of the draws.
        resamples: The number of draws.
    """
    numbers: dict[Hashable, int] = {}
    place = [numbers.setdefault(group, len(numbers)) for group in groups]
    sums = {
        name: tuple(np.bincount(place, weights, len(numbers)).tolist() for weights in (hits, most))
        for name, (hits, most) in columns.items()
        if most is None or any(most)
    }
    figures: dict[str, float] = {}
    for name, interval in bootstrap_ratios(sums, seed=seed, resamples=resamples).items():
        figures |= {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return figures


def mcnemar(first_only: int, second_only: int) -> float:
    """Returns the p-value of the two-sided exact McNemar test.

    Args:
        first_only: Turns that only the first program gets right.
        second_only: Turns that only the second program gets right.

    Returns:
        The chance, in (0, 1], of a split at least this uneven if both programs were equally good; 1.0 when the
        programs never differ.

    Raises:
        ConfigError: A count is negative.
    """
    if first_only < 0 or second_only < 0:
        raise ConfigError(f"counts must be at least 0, got {first_only} and {second_only}")
    from scipy.stats import binomtest  # takes half a second to import

    differing = first_only + second_only
    return float(binomtest(min(first_only, second_only), differing).pvalue) if differing else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns p-values corrected for their number by Holm's step-down method (Holm, 1979), in the given order.

    Args:
        p_values: Each in [0, 1]; an empty list gives an empty one.

    Returns:
        For each the smallest family-wise error rate at which it is rejected.

    Raises:
        ConfigError: A value is outside [0, 1].
    """
    if any(not 0 <= p <= 1 for p in p_values):
        raise ConfigError(f"p_values must be in [0, 1], got {list(p_values)}")
    corrected, reached = [0.0] * len(p_values), 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        reached = max(reached, min(1.0, (len(p_values) - done) * p_values[place]))
        corrected[place] = reached
    return corrected


def expected_calibration_error(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
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
    if not confidences or len(confidences) != len(right):
        sizes = f"{len(confidences)} and {len(right)}"
        raise ConfigError(f"confidences and right must be of one length and not empty, got {sizes}")
    probabilities, correct = np.array(confidences, dtype=float), np.array(right, dtype=float)
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ConfigError("confidences must be probabilities in [0, 1]")
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    gaps = np.abs(np.bincount(place, probabilities, bins) - np.bincount(place, correct, bins))
    return float(gaps.sum() / counts.sum())
