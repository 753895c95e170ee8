"""The names of a graph's relations, classes and nodes, compared with the words of questions.

>>> vocabulary = Vocabulary(graph, Similarity(encoder.vectors))
>>> vocabulary.likeness(["who wrote"])[0][written_by]
1.0

Relations and classes are numbered together as *items*: relations first, classes after them.

Words are compared by stems, and by the vectors of an encoder, which know words that are not in the graph. The vectors
are centred on the mean of common words, as all vectors of an encoder share a large part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from kg.arrays import BoolArray, FloatArray, read_arrays
from kg.graphs import FactGraph
from kg.parsing.names import NameIndex
from kg.text import folded, stem

Vectors = Callable[[Sequence[str]], FloatArray]
"""One vector of length 1 for each text."""

KINDS = ("person", "place", "group")
"""Kinds of classes; groups are organizations, which may do what people do."""

KINDS_FILE = Path(__file__).with_name("kinds.npz")
"""The weights that ``benchmarks/fit_kinds.py`` fits."""

_NAMED_BY = 6
"""The members of a class whose names tell its kind."""


class Vocabulary:
    """The names of a graph's relations and classes, and of its nodes.

    Args:
        graph: The graph.
        similarity: The similarity of words.
    """

    def __init__(self, graph: FactGraph, similarity: Similarity) -> None:
        self.graph = graph
        self.similarity = similarity
        self.index = NameIndex(graph)
        self.owners = [place for place, one in enumerate(graph.relations) for _ in one.names]
        self.owners += [len(graph.relations) + place for place, one in enumerate(graph.classes) for _ in one.names]
        self.item_names = [name for one in graph.relations for name in one.names]
        self.item_names += [name for one in graph.classes for name in one.names]
        self.items = len(graph.relations) + len(graph.classes)

    @cached_property
    def numbers(self) -> list[set[str]]:
        """The numbers in the names of each item: "2023" of "rating jan 2023"."""
        numbers: list[set[str]] = [set() for _ in range(self.items)]
        for owner, name in zip(self.owners, self.item_names, strict=True):
            numbers[owner].update(filter(str.isdigit, name.split()))
        return numbers

    def class_item(self, kind: int) -> int:
        """The item of a class."""
        return len(self.graph.relations) + kind

    def likeness(self, texts: Sequence[str]) -> FloatArray:
        """The similarity of texts with items: that with the best of their names; shape ``(texts, items)``."""
        likeness = np.zeros((len(texts), self.items), dtype=np.float32)
        if texts and self.item_names:
            np.maximum.at(likeness.T, np.array(self.owners), self.similarity.matrix(texts, self.item_names).T)
        return likeness

    @cached_property
    def senses(self) -> FloatArray:
        """The vector of each relation with the classes of its ends; shape ``(relations, width)``."""
        assert self.similarity.vectors is not None
        return self.similarity.vectors([self._described(one) for one in range(len(self.graph.relations))])

    def sense(self, question: str) -> FloatArray:
        """The cosine of a whole question with each relation; zeros without vectors."""
        if self.similarity.vectors is None or not self.graph.relations:
            return np.zeros(len(self.graph.relations), dtype=np.float32)
        cosines: FloatArray = self.senses @ self.similarity.vectors([question])[0]
        return cosines

    def class_name(self, node: int) -> str:
        """The first class of a node, or an empty text."""
        kinds = self.graph.types[node]
        return self.graph.classes[kinds[0]].names[0] if kinds else ""

    def _described(self, relation: int) -> str:
        """A relation between its classes: "enclosure head keeper keeper"."""
        starts: Counter[str] = Counter()
        ends: Counter[str] = Counter()
        for node in range(len(self.graph.values)):
            for other in self.graph.follow(node, relation)[:1]:
                starts[self.class_name(node)] += 1
                ends[self.class_name(other)] += 1
        first, last = (names.most_common(1)[0][0] if names else "" for names in (starts, ends))
        return " ".join(f"{first} {self.graph.relations[relation].names[0]} {last}".split())

    @cached_property
    def times(self) -> BoolArray:
        """Whether each item is a relation of dates or of ages."""
        ages = self.likeness(["age"])[0] >= 0.8
        dates = [one.kind == "date" for one in self.graph.relations] + [False] * len(self.graph.classes)
        times: BoolArray = np.array(dates, dtype=bool) | ages
        return times

    @cached_property
    def kinds(self) -> dict[str, frozenset[int]]:
        """The classes of each kind, by their names and those of their first members; none without vectors."""
        if self.similarity.vectors is None or not self.graph.classes:
            return dict.fromkeys(KINDS, frozenset())
        weights = read_arrays(KINDS_FILE)
        are = class_vectors(self.graph, self.similarity.vectors) @ weights["weights"] + weights["bias"] > 0
        return {kind: frozenset(np.flatnonzero(column).tolist()) for kind, column in zip(KINDS, are.T, strict=True)}

    def is_of(self, node: int, kind: str) -> bool:
        """Whether a class of a node is of a kind."""
        return any(place in self.kinds[kind] for place in self.graph.types[node])


def class_vectors(graph: FactGraph, vectors: Vectors) -> FloatArray:
    """The vector of each class's name with the mean of those of its first members' names; a row a class."""
    rows = []
    for one in graph.classes:
        own, *members = vectors([one.names[0], *(graph.name(node) for node in one.members[:_NAMED_BY])])
        rows.append(np.concatenate([own, np.mean(members, axis=0) if members else 0 * own]))
    return np.stack(rows)


_COMMON_TEXT = """
    time year people way day man thing woman life child world school state family student group country problem hand
    part place case week company system program question work government number night point home water room mother
    area money story fact month lot right study book eye job word business issue side kind head house service friend
"""
_COMMON = _COMMON_TEXT.split()
"""Words whose mean vector is the zero of all comparisons."""

_LEAST, _MOST = 0.14, 0.68
"""Cosines of centred vectors that count as 0 and as 1."""

_BY_VECTORS = 0.8
"""The most that vectors count: they are near for words of one field too ("coach", "captain")."""

_SMALL_TEXT = "a an the of in on at to for from by with as is are was were be been have has had do does did and or its"
_SMALL = frozenset(_SMALL_TEXT.split())
_SHARED, _INITIAL = 0.75, 0.85


class Similarity:
    """Similarities in [0, 1].

    Args:
        vectors: The vectors of texts, or ``None`` to do without.
        word_vectors: Those of words, if they are others.
    """

    def __init__(self, vectors: Vectors | None = None, word_vectors: Vectors | None = None) -> None:
        self.vectors = vectors
        self._word_vectors = word_vectors if word_vectors is not None else vectors
        self._known: dict[str, FloatArray] = {}

    def matrix(self, texts: Sequence[str], names: Sequence[str]) -> FloatArray:
        """The similarity of each text with each name; shape ``(texts, names)``."""
        rows, columns = [_stems(text) for text in texts], [_stems(name) for name in names]
        table = [[_by_words(one, other) for other in columns] for one in rows]
        similarity: FloatArray = np.array(table, dtype=np.float32).reshape(len(texts), len(names))
        if self.vectors is None or not texts or not names:
            return similarity
        cosines = self._centred(texts) @ self._centred(names).T
        meaning = np.clip((cosines - _LEAST) / (_MOST - _LEAST), 0.0, 1.0)
        together: FloatArray = np.maximum(similarity, _BY_VECTORS * meaning).astype(np.float32)
        return together

    @cached_property
    def _mean(self) -> FloatArray:
        assert self._word_vectors is not None
        return np.asarray(self._word_vectors(_COMMON).mean(axis=0))

    def _centred(self, texts: Sequence[str]) -> FloatArray:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new and self._word_vectors is not None:
            vectors = self._word_vectors(new) - self._mean
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
            self._known.update(zip(new, vectors, strict=True))
        return np.stack([self._known[text] for text in texts])


def _by_words(text: Sequence[str], name: Sequence[str]) -> float:
    """Likeness of stems: equal, begun alike ("architect", "architecture"), or in part."""
    if not text or not name:
        return 0.0
    if text == name:
        return 1.0
    table = [[_of_stems(one, other) for other in name] for one in text]
    precision: float = sum(max(row) for row in table) / len(text)
    recall: float = sum(max(column) for column in zip(*table, strict=True)) / len(name)
    likeness = _SHARED * precision + (1 - _SHARED) * recall
    return likeness if precision > 0.5 else 0.6 * likeness


def _of_stems(one: str, other: str) -> float:
    if one == other:
        return 1.0
    begin = next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return _INITIAL if begin >= 4 and begin >= 0.7 * max(len(one), len(other)) - 1 else 0.0


def _stems(text: str) -> list[str]:
    words = folded(text).replace("-", " ").split()
    return [stem(word) for word in words if word not in _SMALL] or words
