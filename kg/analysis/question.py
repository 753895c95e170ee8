"""A question as its words, the names and references in it, degrees, comparisons, and how well it names each relation.

    >>> analysis = analyse("which devices were bought before 2013?", vocabulary, references=())
    >>> analysis.bounds
    [Bound(words=..., comparison='<', value=Period(first=datetime.date(2013, 1, 1), ...))]

Relations and classes are numbered together as *items*: relations first, classes after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from kg.algebra import Bound, DegreeMention, bounds_of, degrees_of
from kg.analysis.wording import (
    BE,
    DATED_BY,
    PRONOUNS,
    Asks,
    among,
    asks_of,
    differing_of,
    head_of,
    lasting_of,
    manner_of,
    negations_of,
    verbs_of,
    weight_of,
)
from kg.arrays import FloatArray
from kg.vocabulary import (
    FREQUENT_VERBS,
    GENERIC,
    LIGHT,
    LIGHT_WORDS,
    MEANS,
    NEGATED_AUXILIARIES,
    NEITHER,
    OTHERS,
    TOTALS,
    VERB,
    NodeMention,
    Vocabulary,
    Word,
    degree_of,
    joined_masks,
    mask,
    mentions_of,
    named_words,
    places,
    words,
)

LONGEST_SPAN = 4
"""Words of a question that are compared with a name together."""

_PREPOSITIONS = frozenset(("in", "at", "of", "on", "by", "for", "from", "to", "with", "under", "into", "as"))
_ALONE = 0.9
_APART_TEXT = "the a an is are was were do does did i you he she it we they them her his its their that"
_APART = frozenset(_APART_TEXT.split())
"""Words that do not occur within a name of a relation."""

_NAME = _HEAD = 1.5
"""The weight of a word of a whole name, and of a noun after "which"."""

_ARTICLES = frozenset(("the", "a", "an"))

_PLACING = frozenset(("where", "why"))
"""Function words that say which relation is asked for."""

_LATER_MEASURE = 0.05
"""What a measure is less likely than the one before it: something big has a large area before many inhabitants."""

_MANNER, _KNOWN = 1.2, 1.0
"""The weights of "why", which no graph answers, and of a verb that asks for a certain relation."""

_CHOOSING = frozenset(("which", "who", "what", "any", "one"))
_ASKEDBEFORE = 0.6
_PARTLY = 0.5
"""The most that the mention of an entity by a part of its name may cost where its class takes its place."""


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
        lacking: Relations that words say to be lacking ("still alive"), each after the words as a bit mask.
        turned: The similarity of each word with each item against its direction; shape ``(words, items)``.
        senses: The cosine of the whole question with each relation between its classes; shape ``(relations,)``.
        totals: Words that ask for a total, as a bit mask.
        means: Words that ask for a mean, as a bit mask.
        differing: Words that ask for a difference, as a bit mask; those of "how much" where "older" follows.
        lasting: Words that ask for a time in years, as a bit mask.
        otherwise: The relations that its words name otherwise: a birth place where it asks for a mayor.
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
    turned: FloatArray
    head: int = 0
    lacking: list[tuple[int, int]] = field(default_factory=list)
    negations: int = 0
    others: int = 0
    counting: int = 0
    references: list[NodeMention] = field(default_factory=list)
    senses: FloatArray = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    otherwise: frozenset[int] = frozenset()
    totals: int = 0
    means: int = 0
    differing: int = 0
    lasting: int = 0

    @property
    def named(self) -> tuple[tuple[int, ...], ...]:
        """The nodes of the names that are not within a longer one, in order."""
        whole = [
            one
            for one in self.mentions
            if not any(other is not one and one.words & other.words == one.words for other in self.mentions)
        ]
        return tuple(one.nodes for one in sorted(whole, key=lambda one: one.words & -one.words))

    def denies(self, mention: NodeMention) -> bool:
        """Whether a name comes after "neither": an answer is without it, so a query may only exclude it."""
        denying = [place for place, word in enumerate(self.words) if word.low in NEITHER]
        return bool(denying) and places(mention.words)[-1] > denying[0]

    @property
    def among(self) -> int:
        """The words of "which one" and "of them", which ask for a part of a set, as a bit mask."""
        low = [word.low for word in self.words]
        found = 0
        for place, (one, other) in enumerate(pairwise(low)):
            if one == "which" and (other in ("one", "ones") or other in BE) and not self.head >> (place + 1) & 1:
                found |= mask(place, place + 2)
            if one == "of" and (other in PRONOUNS or other in ("the", "both")) and set(low[:place]) & _CHOOSING:
                found |= mask(place + 1, place + 3)
        return found

    @property
    def is_price(self) -> bool:
        """Whether it asks "how much is", which may be answered by a price alone unless more is said."""
        low = [word.low for word in self.words]
        return any(pair == ("how", "much") for pair in pairwise(low))


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
    mentions = mentions_of(found, vocabulary)
    compared = _compared_with_names(low, mentions, bounds)
    degrees = degrees_of(compared)
    asks, counting = asks_of(low)
    weights = np.array([weight_of(word) for word in low], dtype=np.float32)
    for place in verbs_of(found, mentions):
        is_known = low[place] not in FREQUENT_VERBS and vocabulary.lexicon.knows(low[place])
        weights[place] = min(weights[place], _KNOWN if is_known else VERB)
    for place in manner_of(low):
        weights[place] = _MANNER
    if low and low[0] in NEGATED_AUXILIARIES:
        weights[0] = 0.0
    negations = _negations(low, mentions)
    for place in places(negations):
        weights[place] = max(weights[place], 1.0)
    for one in mentions:
        if one.cost == 0:
            for place in places(one.words):
                weights[place] = max(weights[place], _NAME)
    for bound in bounds:
        for place in places(bound.words):
            weights[place] = max(weights[place], _NAME if low[place][:1].isdigit() else weights[place])
    differing = differing_of(low, degrees)
    items, turned = _items(low, vocabulary)
    measured = _measured(compared, items, vocabulary, list(asked_before), is_difference=bool(differing))
    for place, word in enumerate(low):
        if word in GENERIC and items[place].max(initial=0.0) < _ALONE:
            weights[place] = min(weights[place], VERB)
        if max((items[place, item] for item in vocabulary.alone), default=0.0) >= _ALONE:
            weights[place] = min(weights[place], LIGHT)
    head = head_of(low, asks)
    for place in places(head):
        weights[place] = _HEAD if weights[place] >= 1 else weights[place]
    return Analysis(
        text, found, weights, mentions, bounds, degrees, asks, items, measured, turned, head, _lacking(low, vocabulary),
        negations,
        sum(1 << place for place, word in enumerate(low) if word in OTHERS),
        counting, senses=vocabulary.sense(_without_names(text, found, mentions, vocabulary)),
        otherwise=_otherwise(low, mentions, vocabulary), totals=among(low, TOTALS), means=among(low, MEANS),
        differing=differing, lasting=lasting_of(low),
    )  # fmt: skip


def _negations(low: Sequence[str], mentions: Sequence[NodeMention]) -> int:
    """The words of negation that are no part of a name: "never" of "Never Say Never" denies nothing."""
    named = named_words(one for one in mentions if one.words.bit_count() > 1)
    # Those that join names are inside the mention of all of them.
    return sum(1 << place for place in negations_of(low) if low[place] in NEITHER or not named >> place & 1)


def _otherwise(low: Sequence[str], mentions: Sequence[NodeMention], vocabulary: Vocabulary) -> frozenset[int]:
    """The relations that are not meant, as the words of a question name another relation of the lexicon."""
    named = named_words(mentions)
    spans = [(first, first + length) for length in (1, 2, 3) for first in range(len(low) - length + 1)]
    return frozenset(
        vocabulary.named_otherwise([" ".join(low[first:end]) for first, end in spans if not mask(first, end) & named])
    )


def _without_names(text: str, found: Sequence[Word], mentions: Sequence[NodeMention], vocabulary: Vocabulary) -> str:
    """A question with the classes of its entities in place of their names: "who looks after the enclosure?"."""
    taken, chosen = 0, []
    for one in sorted(mentions, key=lambda mention: (mention.cost > 0, -mention.words.bit_count())):
        name = vocabulary.class_name(one.nodes[0]) if len(one.nodes) == 1 else ""
        if name and not one.words & taken and one.cost <= _PARTLY:
            taken |= one.words
            inside = places(one.words)
            chosen.append((found[inside[0]].start, found[inside[-1]].end, name))
    for start, end, name in sorted(chosen, reverse=True):
        text = f"{text[:start]}the {name}{text[end:]}"
    return text


def _compared_with_names(low: Sequence[str], mentions: Sequence[NodeMention], bounds: Sequence[Bound]) -> list[str]:
    """The words, with "earlier" and "later" for "before" and "after" a name: "was X built before Y?"."""
    taken = joined_masks(one.words for one in bounds) | named_words(mentions)
    begun = {places(one.words)[0] for one in mentions}
    found = list(low)
    for place, word in enumerate(low):
        follows = next((after for after in range(place + 1, len(low)) if low[after] not in _ARTICLES), -1)
        if word in DATED_BY and follows in begun and not taken >> place & 1:
            found[place] = DATED_BY[word]
    return found


def _items(low: Sequence[str], vocabulary: Vocabulary) -> tuple[FloatArray, FloatArray]:
    """The similarity of each word with each item; a word counts in a longer phrase if it adds to its likeness.

    Returns:
        The similarities, and those against the direction of a relation.
    """
    spans = [
        (first, first + length)
        for length in range(1, LONGEST_SPAN + 1)
        for first in range(len(low) - length + 1)
        if (any(weight_of(word) > 0 for word in low[first : first + length]) or low[first] in _PLACING)
        and (length == 1 or not _APART & set(low[first : first + length]))
    ]
    texts = [" ".join(low[first:end]) for first, end in spans]
    against = vocabulary.turned(texts)
    likeness = np.maximum(vocabulary.likeness(texts), against)
    known = dict(zip(spans, likeness, strict=True))
    nothing = np.zeros(vocabulary.items, dtype=np.float32)
    found = np.zeros((len(low), vocabulary.items), dtype=np.float32)
    turned = np.zeros_like(found)
    for (first, end), row in zip(spans, against, strict=True):
        turned[first:end] = np.maximum(turned[first:end], row)
    for (first, end), row in known.items():
        if end - first == 1:
            found[first] = np.maximum(found[first], row)
            continue
        for place in range(first, end):
            without = np.maximum(
                known.get((first, place), nothing) if place > first else nothing,
                known.get((place + 1, end), nothing) if place + 1 < end else nothing,
            )
            adds = np.where(row > without + 0.05, row, 0.0)
            found[place] = np.maximum(found[place], adds)
    for (first, end), text in zip(spans, texts, strict=True):
        if end - first > 1 and vocabulary.lexicon.is_name(text):
            # A name of several words is read as a whole: "boiling point" is no melting point.
            found[first:end] = np.minimum(found[first:end], known[first, end])
    for place, word in enumerate(low):
        if word in _PREPOSITIONS:
            found[place] = np.maximum(found[place], vocabulary.with_word(word))
        if low[max(place - 1, 0) : place] == ["a"] and word in LIGHT_WORDS:
            continue
        found[place] = np.maximum(found[place], vocabulary.by_unit(word))
    return found, turned


def _lacking(low: Sequence[str], vocabulary: Vocabulary) -> list[tuple[int, int]]:
    """Relations that words say to be lacking; of two spans for one relation the longer is kept."""
    spans = [(first, first + length) for length in (2, 1) for first in range(len(low) - length + 1)]
    likeness = vocabulary.absent([" ".join(low[first:end]) for first, end in spans])
    found: dict[int, int] = {}
    for (first, end), row in zip(spans, likeness, strict=True):
        for relation in np.flatnonzero(row > 0):
            found.setdefault(int(relation), mask(first, end))
    return [(words, relation) for relation, words in found.items()]


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
                measured[place, before] = np.maximum(own, _ASKEDBEFORE)
        measured[place] = np.maximum(measured[place], vocabulary.by_unit(word))
        if degree.level == 0 or (degree.level == 1 and is_difference):
            found[place] = np.maximum(found[place], measured[place])
    return measured
