"""Whether an answer rests on what was retrieved for it.

>>> is_grounded("Meridian Re", "insurer: Meridian Re", "who insures the Port of Varna?")
True
>>> is_grounded("12", "insurer: Meridian Re", "who insures the Port of Varna?")
False
"""

from __future__ import annotations

import re
from decimal import Decimal

from kg.text import STOPWORDS, tokens

_WORD = re.compile(r"[^\W\d_]+")
_COMMON = STOPWORDS | {"yes", "no"}
_FIGURE = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


def is_grounded(answer: str, retrieved: str, question: str) -> bool:
    """Whether an answer rests on what was retrieved: its figures and names occur there, and one of them or a word does.

    Args:
        answer: The answer.
        retrieved: The rows and the calculation's result.
        question: Its names may occur in the answer too.
    """
    figures = figures_in(answer)
    if not figures <= figures_in(retrieved):
        return False
    words = [word for word in _WORD.findall(answer) if not _COMMON.issuperset(tokens(word))]
    found = set(_WORD.findall(retrieved.casefold()))
    known = found | set(_WORD.findall(question.casefold()))
    has_support = bool(figures) or not words or any(word.casefold() in found for word in words)
    return has_support and all(word.casefold() in known for word in words if not word.islower())


def figures_in(text: str) -> set[Decimal]:
    """Every figure that a text holds."""
    return {Decimal(found.replace(",", "")) for found in _FIGURE.findall(text)}
