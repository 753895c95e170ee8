"""A question as its words, the names and references in it, degrees, comparisons, and how well it names each relation.

    >>> analysis = analyse("which devices were bought before 2013?", vocabulary)
    >>> analysis.bounds
    [Bound(words=..., comparison='<', value=Period(first=datetime.date(2013, 1, 1), ...))]

Relations and classes are numbered together as *items*: relations first, classes after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from kg.arrays import FloatArray
from kg.parsing.measures import Bound, DegreeMention, bounds_of, degrees_of
from kg.parsing.names import NodeMention, Word, joined_masks, mask, named_words, places, words
from kg.parsing.vocabulary import Vocabulary
from kg.parsing.words import (
    AUXILIARIES,
    DEGREES,
    DIFFERENCES,
    FUNCTION_WORDS,
    LIGHT,
    LIGHT_WORDS,
    MEANS,
    NEGATED_AUXILIARIES,
    NEGATIONS,
    OTHERS,
    TOTALS,
    VERB,
    degree_of,
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

LONGEST_SPAN = 4
"""Words of a question that are compared with a name together."""

_APART_TEXT = "the a an is are was were do does did i you he she it we they them her his its their that"
_APART = frozenset(_APART_TEXT.split())
"""Words that do not occur within a name of a relation."""

_NAME = _HEAD = 1.5
"""The weight of a word of a whole name, and of a noun after "which"."""

_PLACING = frozenset(("where", "why"))
"""Function words that say which relation is asked for."""

_PARTLY = 0.5
"""The most that a part of a name costs whose class takes its place in the sense of a question."""

_LATER_MEASURE = 0.05
"""The step by which a measure is less likely than the one before it: "big" is said of areas before inhabitants."""

_BEFORE = 0.6
"""The support of the last question's relation for an adjective that measures anything."""

BE = frozenset(("is", "are", "was", "were", "been", "be"))

_BETWEEN = frozenset(("between", "apart"))


@dataclass
class Analysis:
    """A question prepared for parsing.

    Attributes:
        text: The question.
        words: Its words.
        weights: The weight of each word that must be understood.
        mentions: Names and references.
        bounds: Numbers and dates with their comparisons.
        degrees: Adjectives of degree.
        asks: The type of its answer.
        items: The similarity of each word, as part of its phrase, with each item; shape ``(words, items)``.
        measured: The similarity of each degree's word with the items that it may measure; zero at other words.
        head: The places of the words that say what is asked for ("which *country*"), as a bit mask.
        negations: Words of negation, as a bit mask.
        others: Words such as "other", as a bit mask.
        counting: The words "how many", as a bit mask.
        senses: The cosine of the whole question with each relation between its classes; shape ``(relations,)``.
        totals: Words that ask for a total, as a bit mask.
        means: Words that ask for a mean, as a bit mask.
        differing: Words that ask for a difference, as a bit mask; those of "how much" where "older" follows.
    """

    text: str
    words: list[Word]
    weights: FloatArray
    mentions: list[NodeMention]
    bounds: list[Bound]
    degrees: list[DegreeMention]
    asks: Asks
    items: FloatArray
    measured: FloatArray
    head: int = 0
    negations: int = 0
    others: int = 0
    counting: int = 0
    references: list[NodeMention] = field(default_factory=list)
    senses: FloatArray = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    totals: int = 0
    means: int = 0
    differing: int = 0

    @property
    def named(self) -> tuple[tuple[int, ...], ...]:
        """The nodes of the names that are not within a longer one, in order."""
        whole = [
            one
            for one in self.mentions
            if not any(other is not one and one.words & other.words == one.words for other in self.mentions)
        ]
        return tuple(one.nodes for one in sorted(whole, key=lambda one: one.words & -one.words))


def analyse(text: str, vocabulary: Vocabulary, asked_before: Iterable[int] = ()) -> Analysis:
    """Prepares a question.

    Args:
        text: The question.
        vocabulary: The names of the graph.
        asked_before: Items that the last turn asked for; a degree without a measure may measure them.
    """
    found = words(text)
    low = [word.low for word in found]
    bounds = bounds_of(text, found)
    mentions = vocabulary.index.mentions(found)
    degrees = degrees_of(low)
    asks, counting = asks_of(low)
    named = named_words(one for one in mentions if one.words.bit_count() > 1)
    negations = sum(1 << place for place in negations_of(low) if not named >> place & 1)
    differing = differing_of(low, degrees)
    items = _items(low, vocabulary)
    measured = _measured(low, items, vocabulary, list(asked_before), is_difference=bool(differing))
    head = head_of(low, asks)
    return Analysis(
        text, found, _weights(found, mentions, bounds, negations, head), mentions, bounds, degrees,
        asks, items, measured, head, negations, among(low, OTHERS), counting,
        senses=vocabulary.sense(_without_names(text, found, mentions, vocabulary)),
        totals=among(low, TOTALS), means=among(low, MEANS), differing=differing,
    )  # fmt: skip


def _without_names(text: str, found: Sequence[Word], mentions: Sequence[NodeMention], vocabulary: Vocabulary) -> str:
    """A question with the classes of its entities in place of their names: "who looks after the enclosure?"."""
    taken, chosen = 0, []
    for one in sorted(mentions, key=lambda mention: (mention.cost > 0, -mention.words.bit_count())):
        name = vocabulary.class_name(one.nodes[0]) if len(one.nodes) == 1 and one.cost <= _PARTLY else ""
        if name and not one.words & taken:
            taken |= one.words
            inside = places(one.words)
            chosen.append((found[inside[0]].start, found[inside[-1]].end, name))
    for start, end, name in sorted(chosen, reverse=True):
        text = f"{text[:start]}the {name}{text[end:]}"
    return text


def _weights(
    found: Sequence[Word],
    mentions: Sequence[NodeMention],
    bounds: Sequence[Bound],
    negations: int,
    head: int,
) -> FloatArray:
    """The weight of each word that must be understood: names and the noun asked for weigh most."""
    low = [word.low for word in found]
    weights = np.array([weight_of(word) for word in low], dtype=np.float32)
    for place in verbs_of(found, mentions):
        weights[place] = min(weights[place], VERB)
    if low and low[0] in NEGATED_AUXILIARIES:
        weights[0] = 0.0
    for place in places(negations):
        weights[place] = max(weights[place], 1.0)
    for place in places(named_words(mentions)):
        weights[place] = max(weights[place], _NAME)
    for place in places(joined_masks(bound.words for bound in bounds)):
        weights[place] = max(weights[place], _NAME if low[place][:1].isdigit() else weights[place])
    for place in places(head):
        weights[place] = _HEAD if weights[place] >= 1 else weights[place]
    return weights


def _items(low: Sequence[str], vocabulary: Vocabulary) -> FloatArray:
    """The similarity of each word with each item; a word counts in a longer phrase if it adds to its likeness."""
    spans = [
        (first, first + length)
        for length in range(1, LONGEST_SPAN + 1)
        for first in range(len(low) - length + 1)
        if (any(weight_of(word) > 0 for word in low[first : first + length]) or low[first] in _PLACING)
        and (length == 1 or not _APART & set(low[first : first + length]))
    ]
    likeness = vocabulary.likeness([" ".join(low[first:end]) for first, end in spans])
    for row, (first, end) in zip(likeness, spans, strict=True):  # "January 2022" is not like "rating jan 2023"
        numbers = {word for word in low[first:end] if word.isdigit()}
        row *= [numbers <= own for own in vocabulary.numbers] if numbers else 1
    known = dict(zip(spans, likeness, strict=True))
    nothing = np.zeros(vocabulary.items, dtype=np.float32)
    items = np.zeros((len(low), vocabulary.items), dtype=np.float32)
    for (first, end), row in known.items():
        for place in range(first, end):
            without = np.maximum(
                known.get((first, place), nothing) if place > first else nothing,
                known.get((place + 1, end), nothing) if place + 1 < end else nothing,
            )
            items[place] = np.maximum(items[place], np.where(row > without + 0.05, row, 0.0))
    return items


def _measured(
    low: Sequence[str], found: FloatArray, vocabulary: Vocabulary, before: list[int], *, is_difference: bool
) -> FloatArray:
    """The items that degrees may measure; "how tall" names its measure, so that counts as said by the word too."""
    measured = np.zeros_like(found)
    for place, word in enumerate(low):
        degree = degree_of(word)
        if degree is None:
            continue
        measured[place] = found[place]
        if degree.measures:
            likeness = vocabulary.likeness(degree.measures)
            if not degree.of_dates:
                likeness = likeness * (1 - _LATER_MEASURE * np.arange(len(likeness)))[:, None]
            likeness = likeness.max(axis=0)
            if degree.of_dates:
                likeness = np.where(vocabulary.times, likeness, 0.0)
            measured[place] = np.maximum(measured[place], likeness)
        if before and degree.level:
            own = measured[place, before]
            measured[place, before] = np.where(own >= 0.3, np.minimum(own + 0.3, 1.0), own)
            if not degree.measures:
                measured[place, before] = np.maximum(own, _BEFORE)
        if degree.level == 0 or (degree.level == 1 and is_difference):
            found[place] = np.maximum(found[place], measured[place])
    return measured


def weight_of(word: str) -> float:
    """The weight of a word that must be understood."""
    if word in FUNCTION_WORDS:
        return 0.0
    return LIGHT if word in LIGHT_WORDS else 1.0


def negations_of(low: Sequence[str]) -> list[int]:
    """The places of negations; "isn't" at the start asks for yes or no, and "no" there answers."""
    return [
        place
        for place, word in enumerate(low)
        if word in NEGATIONS and (place or (word != "no" and word not in NEGATED_AUXILIARIES))
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
        for cues, others, asks, (start, end) in _CUES:
            if word in cues and (not others or after in others) and (place <= _LATEST or word not in _EARLY):
                return asks, mask(place + start, place + end)
    asks_for_more = "another" in low or any(one.startswith("any") and other in OTHERS for one, other in pairwise(low))
    if _ASKING_FOR & set(lead[1:2]) or asks_for_more:
        return "set", 0
    return ("yes or no" if lead and lead[0] in AUXILIARIES | NEGATED_AUXILIARIES else "set"), 0


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
    is_apart = among(low, _BETWEEN)
    if amounts and (is_apart or any(one.degree.level == 1 for one in degrees) or low[max(amounts[0] - 1, 0)] == "by"):
        found |= mask(amounts[0], amounts[0] + 2) | among(low, frozenset(("than", "by", "years", "year"))) | is_apart
    return found
