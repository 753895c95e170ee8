"""Figures and answers as text, and the check of an answer against the facts that it rests on.

>>> written_quantity(quantity), written_number(Decimal("0.50000"))
('206588 thousand (currency)', '0.5')
"""

from __future__ import annotations

import re
from decimal import Decimal

from kg.search import Answer, merge_key
from kg.text import SCALE_WORDS, STOPWORDS, Quantity, tokens
from programs.turns import Turn

_WORD = re.compile(r"[^\W\d_]+")
_FIGURE = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")
_COMMON = STOPWORDS | {"yes", "no"}


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


def is_grounded(answer: str, shown: str, question: str) -> bool:
    """Whether all figures and names of an answer occur in what was shown, and one of them or a word does.

    >>> is_grounded("12", "insurer: Meridian Re", "who insures the Port of Varna?")
    False

    Args:
        answer: The answer, or a sentence about it.
        shown: The facts that it must rest on.
        question: Its names may occur in the answer too.
    """
    figures = figures_in(answer)
    if not figures <= figures_in(shown):
        return False
    words = [word for word in _WORD.findall(answer) if not _COMMON.issuperset(tokens(word))]
    there = set(_WORD.findall(shown.casefold()))
    known = there | set(_WORD.findall(question.casefold()))
    has_support = bool(figures) or not words or any(word.casefold() in there for word in words)
    return has_support and all(word.casefold() in known for word in words if not word.islower())


def figures_in(text: str) -> set[Decimal]:
    """Every figure that a text holds."""
    return {Decimal(figure.replace(",", "")) for figure in _FIGURE.findall(text)}
