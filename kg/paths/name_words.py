"""Words of a question in the names of entities: what tells the entities at the end of one path of relations apart.

>>> conditions = NameWords(index).conditions(index, ["44", "president"], index.ids(["USA"]))
>>> conditions.facts(index.ids(["Barack Obama", "Joe Biden"]))      # bits of the words that their facts have
array([1, 0])
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from kg.arrays import DoubleArray, IntArray
from kg.graphs import GraphIndex, Ids
from kg.paths.features import WordShares, relation_words
from kg.text import STOPWORDS, stem

_WORD = re.compile(r"[^\W_]+")
_OTHER_FORM = re.compile(r"(\d+)(?:st|nd|rd|th|-\d\d-\d\d.*)")
"""Names that are a number in another form: ordinals, and dates, which stand for their years."""

MOST_KEPT, MOST_READ = 100_000, 10_000
"""Names of a graph whose words are kept, and names that are read for one question to a larger graph."""

MOST_CONDITIONS, LEAST_SHARE = 16, 0.5
"""Words that are looked for, and the share of a name that a question must have to mean what bears it."""


def _stems(text: str) -> list[str]:
    return list(dict.fromkeys(stem(word) for word in _WORD.findall(text.lower())))


class NameWords:
    """The words of the names of a graph.

    Args:
        index: The graph, which is not kept.
        ids: The entities whose names are read, sorted; ``None`` for all.
    """

    def __init__(self, index: GraphIndex, ids: Ids | None = None) -> None:
        self._ids = ids if ids is not None else np.arange(len(index.entities), dtype=np.int32)
        names = [index.name(number) for number in self._ids.tolist()]
        self._shares = WordShares([_stems(name) for name in names], lambda count, holding: math.log(count / holding))
        self._numbers: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            if match := _OTHER_FORM.fullmatch(name):
                self._numbers.setdefault(match[1].lstrip("0") or "0", []).append(place)

    @classmethod
    def near(cls, index: GraphIndex, some: Iterable[Ids]) -> NameWords:
        """The words of a graph, kept as long as it is; of a large one, those of some entities and their neighbours.

        Args:
            index: The graph.
            some: Sets of entities; beyond :data:`MOST_READ` in all no name is read.
        """
        if len(index.entities) <= MOST_KEPT:
            if index not in _KNOWN:
                _KNOWN[index] = cls(index)
            return _KNOWN[index]
        ids = np.zeros(0, dtype=np.int32)
        for part in some:
            first = part[: MOST_READ // 10]
            ids = np.unique(np.concatenate([ids, first, index.edges(first).target[: MOST_READ - len(ids)]]))
            if len(ids) >= MOST_READ:
                break
        return cls(index, ids)

    def conditions(self, index: GraphIndex, words: Sequence[str], topics: Ids) -> Conditions | None:
        """The entities that words of a question name, with those beside them; ``None`` where it names none.

        Args:
            index: The graph.
            words: The words that nothing else accounts for.
            topics: The entities that the question is about, whose names do not count.
        """
        aside = {word for topic in topics for word in _stems(index.name(topic))} | STOPWORDS
        left = [word for word in dict.fromkeys(map(stem, words)) if word not in aside]
        sums = self._shares.sums(left)
        most = sums >= LEAST_SHARE * self._shares.total
        bits: dict[int, int] = {}
        known: list[str] = []
        for word in left:
            holders = self._shares.places.get(word, self._ids[:0])
            named = self._ids[[*holders[most[holders]].tolist(), *self._numbers.get(word, ())]].tolist()
            if named and len(known) < MOST_CONDITIONS:
                for one in named:
                    bits[one] = bits.get(one, 0) | 1 << len(known)
                known.append(word)
        if not known:
            return None
        named_ids = np.array(sorted(bits), dtype=np.int32)
        masks = np.array([bits[one] for one in named_ids.tolist()], dtype=np.int64)
        edges = index.edges(named_ids)
        beside, place = np.unique(edges.target, return_inverse=True)
        facts = np.zeros(len(beside), dtype=np.int64)
        np.bitwise_or.at(facts, place, masks[edges.place])
        weights = np.array([self._shares.weights.get(word, 0.0) for word in known])
        return Conditions(tuple(known), weights, named_ids, masks, beside, facts)


_KNOWN: WeakKeyDictionary[GraphIndex, NameWords] = WeakKeyDictionary()


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


def _looked_up(ids: Ids, keys: Ids, values: IntArray) -> IntArray:
    """The value of each number, 0 where it has none; the keys are sorted."""
    if not len(keys):
        return np.zeros(len(ids), dtype=np.int64)
    places = np.minimum(keys.searchsorted(ids), len(keys) - 1)
    return np.where(keys[places] == ids, values[places], 0)
