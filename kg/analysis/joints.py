"""The places at which "or" joins two conditions: "built before 1950 or owned by Lee", not "owned by Lee or Ada".

>>> joints_of(analysis)
(Joint(place=3, words=8),)

The word joins what is next to it on both sides. An "or" inside a name, a list of names or a bound ("3 or more") joins
no conditions, and one after "which is longer" offers a choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kg.analysis.question import Analysis
from kg.analysis.wording import DATED_BY
from kg.vocabulary import joined_masks, mask, places


@dataclass(frozen=True)
class Joint:
    """An "or" between two conditions.

    Attributes:
        place: The place of the word.
        words: The words "or" and, where it comes before, "either", as a bit mask.
        units: The words of each name, reference and bound of the question, as bit masks.
    """

    place: int
    words: int
    units: tuple[int, ...]

    def is_before(self, words: int) -> bool:
        """Whether some words all come before the "or"."""
        return 0 < words < 1 << self.place

    def is_after(self, words: int) -> bool:
        """Whether some words all come after the "or"."""
        return words > 0 and not words & mask(0, self.place + 1)

    def joins(self, first: int, second: int) -> bool:
        """Whether it joins two conditions that some words say: no other name or bound is between them."""
        if not (self.is_before(first) and self.is_after(second)):
            return False
        between = mask(places(first)[-1] + 1, places(second)[0])
        return not any(one & between == one and not one & (first | second) for one in self.units)


def joints_of(analysis: Analysis) -> tuple[Joint, ...]:
    """The joints of a question; none where it offers a choice or asks whether something said is so."""
    low = [word.low for word in analysis.words]
    if "or" not in low or _is_choice(analysis) or (analysis.asks == "yes or no" and "there" not in low):
        return ()
    inside = joined_masks([*(one.words for one in analysis.mentions), *(one.words for one in analysis.bounds)])
    units = tuple(dict.fromkeys(_units(analysis)))
    return tuple(
        Joint(place, _with_either(low, place), units)
        for place, word in enumerate(low)
        if word == "or" and 0 < place < len(low) - 1 and not inside >> place & 1
    )


def _units(analysis: Analysis) -> Iterator[int]:
    """The words of the names, references and bounds that are certain."""
    for one in (*analysis.mentions, *analysis.references):
        if one.words and one.cost == 0:
            yield one.words
    for bound in analysis.bounds:
        yield bound.words


def _with_either(low: list[str], place: int) -> int:
    """The words of a joint: "or" with the last "either" before it."""
    return 1 << place | next((1 << one for one in range(place - 1, -1, -1) if low[one] == "either"), 0)


def _is_choice(analysis: Analysis) -> bool:
    """Whether a comparative has no standard: "which is longer, the play or the film?"."""
    low = [word.low for word in analysis.words]
    ends = [one.words.bit_length() for one in analysis.degrees if one.degree.level == 1]
    return any("than" not in low[end:] and low[end - 1] not in DATED_BY for end in ends)
