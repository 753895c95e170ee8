"""Statistics of metrics: bootstrap intervals over groups, paired tests of two programs, and calibration.

The turns of a conversation depend on each other, so whole conversations are drawn::

    >>> with_intervals(["a", "b", "c"], {"accuracy": ([3, 0, 2], [4, 2, 2])}, seed=0)["accuracy"]
    0.625
    >>> mcnemar(first_only=9, second_only=1)
    0.021484375
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from kg.errors import ConfigError


def with_intervals(
    groups: Sequence[Hashable],
    columns: Mapping[str, tuple[Sequence[float], Sequence[float] | None]],
    *,
    seed: int,
    resamples: int = 1000,
) -> dict[str, float]:
    """Returns ratios under ``NAME``, with their 95% percentile intervals under ``NAME_low`` and ``NAME_high``.

    A ratio is the sum of hits over the sum of what is possible. Whole groups are drawn with replacement, the same ones
    for all figures.

    Args:
        groups: The conversation of each turn.
        columns: By name, the hits of each turn (perhaps differences, below 0), and the most that is possible in each;
            ``None`` for 1. A figure that no turn counts for is left out.
        seed: Of the draws; the same for any figure over the same number of groups.
        resamples: The number of draws, at least 100.

    Raises:
        ConfigError: There is no turn, or there are too few resamples.
    """
    if resamples < 100:
        raise ConfigError(f"resamples must be at least 100, got {resamples}")
    if not groups:
        raise ConfigError("figures must be over at least one turn, got none")
    numbers: dict[Hashable, int] = {}
    place = [numbers.setdefault(group, len(numbers)) for group in groups]
    count = len(numbers)
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples).astype(float)
    figures: dict[str, float] = {}
    for name, (hits, most) in columns.items():
        above, below = (np.bincount(place, weights, count).astype(float) for weights in (hits, most))
        if not below.any():
            continue
        sampled = drawn @ below
        # A draw without any group that counts for this figure has no ratio.
        ratios = (drawn @ above)[sampled > 0] / sampled[sampled > 0]
        low, high = np.percentile(ratios, [2.5, 97.5])
        figures |= {name: float(above.sum() / below.sum()), f"{name}_low": float(low), f"{name}_high": float(high)}
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
