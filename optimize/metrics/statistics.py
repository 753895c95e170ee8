"""How sure a figure is: bootstrap intervals over groups, and paired comparisons of two programs.

The turns of a conversation depend on each other, so conversations are drawn, not turns::

    >>> interval = bootstrap_ratio(hits=[3, 0, 2], totals=[4, 2, 2], seed=0)
    >>> interval.value
    0.625
    >>> mcnemar(first_only=9, second_only=1)
    0.021484375
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kg.errors import ConfigError


@dataclass(frozen=True)
class Interval:
    """A figure with the 95% percentile interval around it: ``low <= high``."""

    value: float
    low: float
    high: float


def bootstrap_ratio(hits: Sequence[float], totals: Sequence[float], *, seed: int, resamples: int = 1000) -> Interval:
    """The share of hits over all groups, with an interval from drawing whole groups with replacement.

    Args:
        hits: What was reached in each group (right turns, or differences of right turns; may be negative).
        totals: What could be reached in each group; the sum is above 0.
        seed: The same seed draws the same groups, for any figure over the same number of groups.
        resamples: How often groups are drawn, at least 100.

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
        # A draw without any group that counts for this figure says nothing about it.
        ratios = (drawn @ hits)[sampled > 0] / sampled[sampled > 0]
        low, high = np.percentile(ratios, [2.5, 97.5])
        intervals[name] = Interval(float(hits.sum() / totals.sum()), float(low), float(high))
    return intervals


def _draws(groups: int, seed: int, resamples: int) -> npt.NDArray[np.float64]:
    """How often each group is drawn in each resample, shape (resamples, groups); each row sums to ``groups``."""
    counts = np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), size=resamples)
    return counts.astype(np.float64)


def group_sums(groups: Sequence[Hashable], figures: Sequence[float]) -> tuple[list[float], list[float]]:
    """The sum of the figures of each group, and how many it has, groups in the order of their first figure."""
    sums: dict[Hashable, float] = {}
    sizes: dict[Hashable, float] = {}
    for group, figure in zip(groups, figures, strict=True):
        sums[group] = sums.get(group, 0.0) + figure
        sizes[group] = sizes.get(group, 0.0) + 1
    return list(sums.values()), list(sizes.values())


def bootstrap_mean(
    groups: Sequence[Hashable], figures: Sequence[float], *, seed: int, resamples: int = 1000
) -> Interval:
    """The mean of the figures, with an interval from drawing whole groups. Raises as :func:`bootstrap_ratio` does."""
    return bootstrap_ratio(*group_sums(groups, figures), seed=seed, resamples=resamples)


def paired_difference(
    groups: Sequence[Hashable],
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int,
    resamples: int = 1000,
) -> Interval:
    """How much higher the mean of ``second`` is than that of ``first`` over the same turns.

    Both programs are drawn together, turn by turn, so that what is hard for both does not widen the interval.

    Args:
        groups: The conversation of each turn.
        first: The first program's figure for each turn.
        second: The second program's figure for each turn, in the same order.
        seed: Seed of the drawing.
        resamples: How often conversations are drawn.

    Raises:
        ConfigError: As :func:`bootstrap_ratio` raises, or the lists differ in length.
    """
    if not len(groups) == len(first) == len(second):
        raise ConfigError(
            f"groups, first and second must be of one length, got {len(groups)}, {len(first)} and {len(second)}"
        )
    gains = [after - before for before, after in zip(first, second, strict=True)]
    return bootstrap_mean(groups, gains, seed=seed, resamples=resamples)


def mcnemar(first_only: int, second_only: int) -> float:
    """Two-sided exact McNemar test: the chance of a split at least this uneven if both programs were equally good.

    Args:
        first_only: Turns that only the first program gets right.
        second_only: Turns that only the second program gets right.

    Returns:
        The p-value in (0, 1]; 1.0 when the programs never differ.

    Raises:
        ConfigError: A count is negative.
    """
    if first_only < 0 or second_only < 0:
        raise ConfigError(f"counts must be at least 0, got {first_only} and {second_only}")
    differing = first_only + second_only
    tail = sum(math.comb(differing, count) for count in range(min(first_only, second_only) + 1))
    return min(1.0, 2 * tail / int(2**differing))


def mcnemar_test(first: Sequence[bool], second: Sequence[bool]) -> float:
    """:func:`mcnemar` from whether each turn is right, turn by turn in the same order."""
    if len(first) != len(second):
        raise ConfigError(f"first and second must be of one length, got {len(first)} and {len(second)}")
    pairs = list(zip(first, second, strict=True))
    return mcnemar(sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for their number by Holm's step-down method (Holm, 1979), in the order that they came in.

    Args:
        p_values: Each in [0, 1]; an empty list gives an empty one.

    Returns:
        For each the smallest level at which it is still refused while the chance of any false alarm stays below it.

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
