"""The merging of equal answers by their summed probability."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np

from kg.arrays import DoubleArray, FloatArray, IntArray

_PLACES = Decimal("0.00001")


def merge_key(answer: Decimal | str | tuple[str, ...]) -> Decimal | str | tuple[str, ...]:
    """A key that is equal for answers equal to five decimal places, the precision of the official metric."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, tuple):
        return tuple(" ".join(name.lower().split()) for name in answer)
    if answer.adjusted() > 20:  # the default decimal context cannot round it exactly
        return answer.normalize()
    return answer.quantize(_PLACES, rounding=ROUND_HALF_EVEN) + 0


def merge(groups: IntArray, log_probabilities: FloatArray | DoubleArray) -> DoubleArray:
    """The log of the summed probabilities of each group.

    Args:
        groups: The group of each element, from 0.
        log_probabilities: The log-probability of each element.

    Returns:
        One value for each group up to the largest number; minus infinity for a group without elements.
    """
    with np.errstate(divide="ignore"):
        merged: DoubleArray = np.log(np.bincount(groups, weights=np.exp(log_probabilities)))
    return merged
