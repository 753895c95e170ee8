"""Figures in words: whole numbers up to hundreds, with an optional scale.

    >>> [(q.text, q.scale) for q in find_number_words("twenty-five million shares and two hundred and five stores")]
    [('25', 1000000), ('205', 1)]

A lone "one" is skipped, as it is nearly always a pronoun. :mod:`kg.text.quantities` reads digits.
"""

from __future__ import annotations

import re
from decimal import Decimal

from kg.text.quantities import SCALES, Quantity, unit_after

_UP_TO_NINETEEN = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_ONES = _UP_TO_NINETEEN.split()
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {word: place for place, word in enumerate(_ONES)} | {
    word: 10 * place for place, word in enumerate(_TENS, start=2)
}
_SMALL = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(reversed(_ONES))})"
_FIGURE = re.compile(
    rf"(?<![\w-])(?P<hundreds>{_SMALL})?(?P<hundred>\s?hundred(?:\s(?:and\s)?(?P<rest>{_SMALL}))?)?"
    rf"(?:[\s-](?P<scale>{'|'.join(SCALES)}))?(?![\w-])",
    re.IGNORECASE,
)


def find_number_words(text: str) -> list[Quantity]:
    """The figures of a text that are written in words, in order; the ``text`` of each is in digits."""
    found: list[Quantity] = []
    for match in _FIGURE.finditer(text):
        first, scale = match["hundreds"], match["scale"]
        if first is None or (match[0].lower() == "one"):
            continue
        number = _small(first)
        if match["hundred"] is not None:
            number = 100 * number + (_small(match["rest"]) if match["rest"] is not None else 0)
        unit = unit_after(text, match.end(), percent=False, money=False)
        written = str(number) + ("%" if unit == "percent" else "")
        power = SCALES[scale.lower()] if scale is not None else 1
        found.append(Quantity(Decimal(number), unit, power, written, match.start(), match.end()))
    return found


def _small(words: str) -> int:
    """The value of "seven", "seventeen" or "seventy-seven"."""
    return sum(_VALUES[word] for word in re.split(r"[\s-]", words.lower()))
