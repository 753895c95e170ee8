"""Whether a sentence of a language model rests on what it was shown: its figures and names occur there."""

from __future__ import annotations

import re
from decimal import Decimal

from kg.text import STOPWORDS, tokens

_WORD = re.compile(r"[^\W\d_]+")
_COMMON = STOPWORDS | {"yes", "no"}
_FIGURE = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


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
