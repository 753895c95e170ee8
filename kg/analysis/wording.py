"""The words of a question that say how it asks: for whom, when or how many, for a total, for what is not so.

>>> asks_of(["how", "many", "lakes", "are", "there"])
('count', 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from kg.algebra import DegreeMention
from kg.vocabulary import (
    AUXILIARIES,
    DEGREES,
    DIFFERENCES,
    FREQUENT_VERBS,
    FUNCTION_WORDS,
    LIGHT,
    LIGHT_WORDS,
    NEGATED_AUXILIARIES,
    NEGATIONS,
    OTHERS,
    TOTALS,
    VERB,
    NodeMention,
    Word,
    mask,
    named_words,
)

Asks = Literal["set", "who", "when", "where", "count", "amount", "age", "yes or no"]
"""The type of the answer that a question asks for; ``amount`` is a number, ``set`` is anything."""

_PRONOUNS_TEXT = "i you he she it we they him her them that this those these there"
PRONOUNS = frozenset(_PRONOUNS_TEXT.split())
_AUXILIARY_DO = frozenset(("do", "does", "did", "can", "could", "will", "would"))
_ASKING_FOR = frozenset(("you", "i"))
"""Words after an auxiliary that begins no question for yes or no: "can you list"."""

_CUES: tuple[tuple[frozenset[str], frozenset[str], Asks, tuple[int, int]], ...] = (
    (frozenset(("how",)), frozenset(("many",)), "count", (0, 2)),
    (frozenset(("how",)), frozenset(("much",)), "amount", (0, 2)),
    (frozenset(("how",)), frozenset(("old", "young")), "age", (0, 2)),
    (frozenset(("how",)), frozenset(("often", "frequently")), "amount", (0, 2)),
    (frozenset(("how",)), frozenset(DEGREES), "amount", (0, 1)),
    (frozenset(("who", "whom", "whos", "whose")), frozenset(), "who", (0, 0)),
    (frozenset(("when",)), frozenset(), "when", (0, 0)),
    (frozenset(("where",)), frozenset(), "where", (0, 0)),
    (frozenset(("what", "which")), frozenset(("year", "date", "day")), "when", (1, 2)),
    (frozenset(("what", "which", "how", "whats")), frozenset(), "set", (0, 0)),
)
"""A word, the word after it if that matters, what the two ask for, and where the words begin and end that only ask."""

_EARLY, _LATEST = frozenset(("when", "where")), 2
"""Words that ask only up to this place of a question; later ones join clauses."""

_LENGTHS = frozenset(("years", "months", "weeks", "days"))
_LASTS = frozenset(("last", "lasts", "lasted", "lasting"))
_APART = frozenset(("between", "apart"))
BE = frozenset(("is", "are", "was", "were", "been", "be"))
DATED_BY = {"before": "earlier", "after": "later"}
"""Words that compare dates, also with those of a name, and the degrees that say the same."""


def weight_of(word: str) -> float:
    """The weight of a word that must be understood."""
    if word in FUNCTION_WORDS:
        return 0.0
    if word in LIGHT_WORDS:
        return LIGHT
    return VERB if word in FREQUENT_VERBS else 1.0


def negations_of(low: Sequence[str]) -> list[int]:
    """The places of negations; "isn't" at the start asks for yes or no, and "no" there answers."""
    return [
        place
        for place, word in enumerate(low)
        if word in NEGATIONS and (place or (word != "no" and word not in NEGATED_AUXILIARIES))
    ]


def manner_of(low: Sequence[str]) -> list[int]:
    """The places of "why" and of "how" where it asks for a manner: "how do I get there"."""
    return [
        place
        for place, word in enumerate(low)
        if word == "why" or (word == "how" and low[place + 1 : place + 2] and low[place + 1] in _AUXILIARY_DO)
    ]


def verbs_of(found: Sequence[Word], mentions: Sequence[NodeMention]) -> list[int]:
    """The places of likely verbs: after "who" and after an auxiliary with its subject; they say less than nouns."""
    low = [word.low for word in found]
    named = named_words(mentions)
    verbs = []
    for place, word in enumerate(low):
        before = low[place - 1] if place else ""
        is_free = not named >> place & 1 and word not in FUNCTION_WORDS
        if (
            (is_free and before in ("who", "what", "that", "to") and not word.endswith("s's"))
            or (is_free and before in PRONOUNS and set(low[:place]) & _AUXILIARY_DO)
            or (is_free and place and named >> (place - 1) & 1 and set(low[:place]) & _AUXILIARY_DO)
            or (is_free and before in BE and word.endswith("ed"))
            or (is_free and before in PRONOUNS and set(low[:place]) & BE and word.endswith("ed"))
        ):
            verbs.append(place)
    return verbs


def asks_of(low: Sequence[str]) -> tuple[Asks, int]:
    """The type of the answer, and the words that say so if they are "how many" or alike."""
    lead = [word for word in low if word not in ("and", "so", "but", "then", "ok", "okay", "please")]
    for place, (before, word, after) in enumerate(zip(["", *low], low, [*low[1:], ""], strict=False)):
        if word == "age" and before not in ("", "same") and (not after or after in FUNCTION_WORDS):
            return "age", mask(place, place + 1)
    for place, word in enumerate(low):
        after = low[place + 1] if place + 1 < len(low) else ""
        if word in ("number", "count") and _counts(low, place):
            return "count", mask(place, place + 2)
        for words, others, asks, (start, end) in _CUES:
            if word in words and (not others or after in others) and (place <= _LATEST or word not in _EARLY):
                return asks, mask(place + start, place + end)
    asks_for_more = "another" in low or any(one.startswith("any") and other in OTHERS for one, other in pairwise(low))
    if _ASKING_FOR & set(lead[1:2]) or asks_for_more:
        return "set", 0
    return ("yes or no" if lead and lead[0] in AUXILIARIES | NEGATED_AUXILIARIES else "set"), 0


def _counts(low: Sequence[str], place: int) -> bool:
    """Whether a noun asks how many: "the number of lakes", but not "the largest number of" or "phone number of X"."""
    before = low[place - 1] if place else "the"
    begins = low[place + 2 : place + 3]
    is_noun = bool(begins) and begins[0] not in FUNCTION_WORDS
    return low[place + 1 : place + 2] == ["of"] and before in FUNCTION_WORDS | TOTALS and is_noun


def head_of(low: Sequence[str], asks: Asks) -> int:
    """The words after "which", "what" or "how many" up to a verb or preposition."""
    for place, word in enumerate(low):
        start = place + 2 if word == "how" and asks == "count" else place + 1
        if word in ("which", "what", "whose") or (word == "how" and asks == "count"):
            end = start
            while end < len(low) and low[end] not in FUNCTION_WORDS and end - start < 3:
                end += 1
            return mask(start, end)
    return 0


def among(low: Sequence[str], wanted: frozenset[str]) -> int:
    """The places of some words, as a bit mask."""
    return sum(1 << place for place, word in enumerate(low) if word in wanted)


def differing_of(low: Sequence[str], degrees: Sequence[DegreeMention]) -> int:
    """The words that ask for a difference: "how much heavier is X than Y?", "the difference in price"."""
    found = among(low, DIFFERENCES)
    amounts = [place for place, pair in enumerate(pairwise(low)) if pair[0] == "how" and pair[1] in ("much", "many")]
    is_apart = among(low, _APART)
    if amounts and (is_apart or any(one.degree.level == 1 for one in degrees) or low[max(amounts[0] - 1, 0)] == "by"):
        found |= mask(amounts[0], amounts[0] + 2) | among(low, frozenset(("than", "by", "years", "year"))) | is_apart
    return found


def lasting_of(low: Sequence[str]) -> int:
    """The words that ask for a length of time: "how many years", "how long", "how many days did it last"."""
    lasts = among(low, _LASTS)
    for place, word in enumerate(low):
        if word == "how" and lasts and low[place + 1 : place + 2] == ["many"]:
            return mask(place, place + 2) | lasts
        if word == "how" and low[place + 1 : place + 2] == ["many"] and set(low[place + 2 : place + 3]) & _LENGTHS:
            return mask(place, place + 3)
        if word == "how" and low[place + 1 : place + 2] == ["long"]:
            return mask(place, place + 2)
    return 0
