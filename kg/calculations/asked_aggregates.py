"""The demands of a question on aggregates: a total, an average, an extreme, and over how many figures.

    >>> asked = read_aggregates("what were average sales over the three years ended 2007, as a share of the total?")
    >>> sorted(asked.functions), asked.count, asked.ratio
    (['average', 'sum'], 3, True)

The words are those of English for aggregation. Which of several functions is meant is for the fitted weights.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kg.text import find_number_words

FUNCTIONS = ("sum", "average", "max", "min", "range")
"""The aggregates of figures; ``range`` is the largest less the smallest."""

_CUES = {
    "sum": r"total(?:s|ed|led|ing|ling)?|sum(?:s|med)?|summing|combined?|combining|together|altogether|aggregated?"
    r"|cumulative(?:ly)?|overall|add(?:ed|ing|s)? up|all in all",
    "average": r"averag(?:e|es|ed|ing)|mean|on average",
    "max": r"maxim(?:um|al)|max|highest|largest|biggest|greatest|most|peak(?:ed)?|top",
    "min": r"minim(?:um|al)|min|lowest|smallest|least|fewest|bottom",
    "range": r"range|spread|gap|highest and (?:the )?lowest|lowest and (?:the )?highest|maximum and (?:the )?minimum",
}
_FUNCTION = {name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in _CUES.items()}
_RATIO = re.compile(
    r"\b(?:shares?|portion|proportion|percent(?:age)?|fraction|ratio|part) (?:of|to|for)\b|\bas an? (?:share|%|percent)"
    r"|\bwhat (?:total )?(?:share|portion|proportion|percent(?:age)?|fraction)\b|%\s+of\b"
    r"|\bdivided by\b|\brelative to\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:chang|grow|grew|ris|rose|increas|decreas|declin|fell|fall|drop|gain|improv|variation|reduc)\w*",
    re.IGNORECASE,
)
_REST = re.compile(
    r"\b(?:less|net of|minus|remain\w*|rest|other than|excluding|except|not|without|after)\b", re.IGNORECASE
)
_TIMES = r"(?:fiscal |calendar |consecutive |full )?(?:years?|yrs?|quarters?|months?|periods?)\b"
_TIMES_AFTER = re.compile(rf"[\s-]*{_TIMES}", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:all|these|those|the|both|its|last|past|first|next|of|over)\s+$", re.IGNORECASE)
_DIGITS = re.compile(r"(?<![\d.,])([2-9]|1\d|2[0-4])(?![\d.,%])")


@dataclass(frozen=True)
class AskedAggregates:
    """The demands of a question.

    Attributes:
        functions: Of :data:`FUNCTIONS`, those that the question has a word for.
        count: The number of figures, such as 3 for "the three years"; 0 if it names none.
        of_time: Whether the count is of years, quarters or months.
        ratio: Whether it asks for a share or a ratio.
        change: Whether it asks for a change.
        rest: Whether it leaves something out or takes something off.
    """

    functions: frozenset[str]
    count: int
    of_time: bool
    ratio: bool
    change: bool
    rest: bool


def read_aggregates(question: str) -> AskedAggregates:
    """Reads a question."""
    count, of_time = _count(question)
    return AskedAggregates(
        functions=frozenset(name for name, words in _FUNCTION.items() if words.search(question)),
        count=count,
        of_time=of_time,
        ratio=_RATIO.search(question) is not None,
        change=_CHANGE.search(question) is not None,
        rest=_REST.search(question) is not None,
    )


def _count(question: str) -> tuple[int, bool]:
    """The number of figures and whether they are of times; a count of times comes before any other."""
    found = [(one.start, one.end, int(one.value)) for one in find_number_words(question) if 2 <= one.value <= 24]
    found += [(match.start(), match.end(), int(match[1])) for match in _DIGITS.finditer(question)]
    found.sort()
    for _, end, number in found:
        if _TIMES_AFTER.match(question, end):
            return number, True
    for start, _, number in found:
        if _BEFORE.search(question[:start]):
            return number, False
    return 0, False
