"""Figures and answers as text."""

from __future__ import annotations

from decimal import Decimal

from kg.search import Answer, merge_key
from kg.text import SCALE_WORDS, Quantity
from programs.turns import Turn


def written_quantity(quantity: Quantity) -> str:
    """A figure with its unit and scale: ``206588 thousand (currency)``, ``27%``, ``1.25 (per-share)``."""
    scale = SCALE_WORDS.get(quantity.scale)
    scaled = f"{quantity.text} {scale}" if scale else quantity.text
    return scaled if quantity.unit in ("plain", "percent") else f"{scaled} ({quantity.unit})"


def written_number(answer: Answer) -> str:
    """An answer with at most five decimal places and no trailing zeros; ``yes``, ``no`` and names as they are."""
    if isinstance(answer, tuple):
        return ", ".join(answer)
    if isinstance(answer, str):
        return answer
    rounded = merge_key(answer)
    return format(rounded.normalize() if isinstance(rounded, Decimal) and rounded else Decimal(0), "f")


def written_answer(turn: Turn) -> str:
    """The answer of a turn, or why there is none."""
    return written_number(turn.answer) if turn.answer is not None else f"no answer ({turn.failure})"
