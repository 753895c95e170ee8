"""Words of a question in the names of entities: what tells the entities at the end of one path of relations apart.

>>> conditions = NameWords.of(index).conditions(index, ["44", "president"], index.ids(["USA"]))
>>> conditions.facts(index.ids(["Barack Obama", "Joe Biden"]))      # bits of the words that their facts have
array([1, 0])
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kg.arrays import DoubleArray, IntArray
from kg.graphs import GraphIndex, Ids, NameBuilder, NameTable, Postings, postings
from kg.paths.features import relation_words
from kg.text import STOPWORDS, stem

_WORD = re.compile(r"[^\W_]+")
_OTHER_FORM = re.compile(r"(\d+)(?:st|nd|rd|th|-\d\d-\d\d.*)")
"""Names that are a number in another form: ordinals, and dates, which stand for their years."""

MOST_READ = 10_000
"""Names that are compared with a word of a question: those of which the word is most."""

MOST_CONDITIONS, LEAST_SHARE = 16, 0.5
"""Words that are looked for, and the share of a name that a question must have to mean what bears it."""


KNOWN: WeakKeyDictionary[GraphIndex, NameWords] = WeakKeyDictionary()
"""The words of graphs that are in use."""


def _stems(text: str) -> list[str]:
    return list(dict.fromkeys(word if word.isdigit() else stem(word) for word in _WORD.findall(text.lower())))


class NameWords(NamedTuple):
    """The words of the names of a graph.

    Attributes:
        holders: The entities whose names have a stem, those with the fewest rare words first.
        totals: The rarity of all words of each name, 1 without any.
        forms: The entities that are a number in another form.
    """

    holders: Postings
    totals: DoubleArray
    forms: Postings

    @classmethod
    def of(cls, index: GraphIndex) -> NameWords:
        """The words of a graph, which are kept as long as it is."""
        if index not in KNOWN:
            KNOWN[index] = cls._read(index.entities)
        return KNOWN[index]

    @classmethod
    def _read(cls, names: NameTable) -> NameWords:
        builder, words, counts, forms = NameBuilder(), array("i"), array("i"), list[tuple[str, int]]()
        for owner, name in enumerate(names):
            if name[:1].isdigit() and (match := _OTHER_FORM.fullmatch(name)):
                forms.append((match[1].lstrip("0") or "0", owner))
            stems = _stems(name)
            words.extend(map(builder.number, stems))
            counts.append(len(stems))
        table, numbers = builder.table()
        word, own = numbers[np.array(words, dtype=np.int32)], np.repeat(np.arange(len(names), dtype=np.int32), counts)
        weights = np.array([math.log(len(names) / holding) for holding in np.bincount(word).tolist()])
        totals = np.bincount(own, weights=weights[word], minlength=len(names)).astype(np.float64)
        totals[totals == 0] = 1.0
        order = totals[own].argsort(kind="stable")
        return cls(table.postings(word[order], own[order]), totals, postings(forms))

    def conditions(self, index: GraphIndex, words: Sequence[str], topics: Ids) -> Conditions | None:
        """The entities that words of a question name, with those beside them; ``None`` where it names none.

        Args:
            index: The graph.
            words: The words that nothing else accounts for.
            topics: The entities that the question is about, whose names do not count.
        """
        aside = {word for topic in topics for word in _stems(index.name(topic))} | STOPWORDS
        left = [word for word in dict.fromkeys(map(stem, words)) if word not in aside]
        holders = [self.holders.find(word) for word in left]
        rarity = [math.log(len(self.totals) / len(own)) if len(own) else 0.0 for own in holders]
        holders = [own[:MOST_READ] for own in holders]
        ids, place = np.unique(np.concatenate([*holders, topics[:0]]), return_inverse=True)
        sums = np.bincount(place, weights=np.repeat(rarity, list(map(len, holders))), minlength=len(ids))
        most = ids[sums >= LEAST_SHARE * self.totals[ids]]
        names = [
            np.union1d(np.intersect1d(own, most), self.forms.find(word))
            for word, own in zip(left, holders, strict=True)
        ]
        known = [place for place, own in enumerate(names) if len(own)][:MOST_CONDITIONS]
        if not known:
            return None
        bits = np.repeat(1 << np.arange(len(known)), [len(names[place]) for place in known])
        named, masks = _united(np.concatenate([names[place] for place in known]), bits)
        edges = index.edges(named)
        beside, facts = _united(edges.target, masks[edges.place])
        weights = np.array([rarity[place] for place in known])
        return Conditions(tuple(left[place] for place in known), weights, named, masks, beside, facts)


@dataclass(frozen=True)
class Conditions:
    """The words of a question by the entities that have them; a set of words is a number, with a bit for each.

    Attributes:
        words: The words, stemmed.
        weights: The rarity of each.
        named: The entities that the words name, sorted.
        names: The words of each of these.
        beside: The entities that have one of these beside them, sorted.
        known: The words that each of these has so.
    """

    words: tuple[str, ...]
    weights: DoubleArray
    named: Ids
    names: IntArray
    beside: Ids
    known: IntArray

    def facts(self, ids: Ids) -> IntArray:
        """The words that the facts of some entities have."""
        return _looked_up(ids, self.beside, self.known)

    def own(self, ids: Ids) -> IntArray:
        """The words that the names of some entities have, where a question means them by these."""
        return _looked_up(ids, self.named, self.names)

    def of_relations(self, names: Sequence[str]) -> int:
        """The words that the names of relations have."""
        said = {stem(word) for name in names for word in relation_words(name)[0]}
        return sum(1 << place for place, word in enumerate(self.words) if word in said)

    def weigh(self, masks: IntArray) -> DoubleArray:
        """The share of sets of words in the rarity of all, in [0, 1]."""
        return (masks[:, None] >> np.arange(len(self.words)) & 1) @ self.weights / (self.weights.sum() or 1.0)


def _united(ids: Ids, masks: IntArray) -> tuple[Ids, IntArray]:
    """The distinct numbers, sorted, each with all bits of its masks."""
    distinct, place = np.unique(ids, return_inverse=True)
    united = np.zeros(len(distinct), dtype=np.int64)
    np.bitwise_or.at(united, place.reshape(-1), masks)
    return distinct, united


def _looked_up(ids: Ids, keys: Ids, values: IntArray) -> IntArray:
    """The value of each number, 0 where it has none; the keys are sorted."""
    if not len(keys):
        return np.zeros(len(ids), dtype=np.int64)
    places = np.minimum(keys.searchsorted(ids), len(keys) - 1)
    return np.where(keys[places] == ids, values[places], 0)
