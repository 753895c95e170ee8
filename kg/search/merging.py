"""The merging of equal answers, the same for derivations and for paths through entities."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

_PLACES = Decimal("0.00001")


def merge_key(answer: Decimal | str) -> Decimal | str:
    """Equal for answers that are numerically equal to five decimal places, the precision of the official metric."""
    if isinstance(answer, str):
        return answer
    if answer.adjusted() > 20:  # more digits than the default decimal context rounds exactly
        return answer.normalize()
    return answer.quantize(_PLACES, rounding=ROUND_HALF_EVEN) + 0
