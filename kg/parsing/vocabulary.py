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

import numpy as np

from kg.arrays import BoolArray, FloatArray
from kg.graphs import FactGraph
from kg.parsing.names import NameIndex
from kg.text import folded, stem

_KINDS = {
    "person": ("person", "human", "man or woman", "employee", "politician", "athlete", "scientist", "doctor", "teacher",
               "artist", "musician", "manager", "captain", "author"),
    "place": ("place", "city", "country", "location", "building", "region", "town", "island", "lake", "station"),
    "group": ("organization", "company", "club", "team", "institution"),
    "event": ("event", "meeting", "match", "visit", "loan", "purchase", "session"),
    "animal": ("animal", "pet", "livestock", "dog"),
    "thing": ("thing", "object", "product", "document", "number", "work of art", "film", "book", "machine", "vehicle",
              "software", "subject", "category", "award"),
}  # fmt: skip
"""Kinds of things by typical nouns; a class is of the kind to whose nouns its name is nearest."""

_LEAST_KIND = 0.3


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

    def _kinds(self, names: Sequence[str]) -> list[str]:
        """The kind of each name, of :data:`_KINDS`; empty where it is like none."""
        nouns = [(kind, noun) for kind, own in _KINDS.items() for noun in own]
        likeness = self.similarity.matrix(names, [noun for _, noun in nouns])
        best = likeness.argmax(axis=1)
        return [nouns[place][0] if row[place] >= _LEAST_KIND else "" for row, place in zip(likeness, best, strict=True)]

    @cached_property
    def _classes_of_kind(self) -> dict[str, frozenset[int]]:
        kinds = self._kinds([one.names[0] for one in self.graph.classes]) if self.graph.classes else []
        return {kind: frozenset(place for place, own in enumerate(kinds) if own == kind) for kind in _KINDS}

    @property
    def people(self) -> frozenset[int]:
        """The classes of people."""
        return self._classes_of_kind["person"]

    @property
    def places(self) -> frozenset[int]:
        """The classes of places."""
        return self._classes_of_kind["place"]

    @property
    def groups(self) -> frozenset[int]:
        """The classes of organizations, which may do what people do."""
        return self._classes_of_kind["group"]

    @property
    def events(self) -> frozenset[int]:
        """The classes of events, which join people, places and days, and are seldom asked for themselves."""
        return self._classes_of_kind["event"]

    def share_of_events(self, nodes: Sequence[int]) -> float:
        """The share of some nodes that are events, in [0, 1]."""
        some = nodes[:50]
        return sum(self.is_of(node, self.events) for node in some) / max(len(some), 1)

    def is_person(self, node: int) -> bool:
        """Whether a node is a person by its class."""
        return self.is_of(node, self.people)

    def is_of(self, node: int, kinds: frozenset[int]) -> bool:
        """Whether a node is of some classes."""
        return any(kind in kinds for kind in self.graph.types[node])


Vectors = Callable[[Sequence[str]], FloatArray]
"""One vector of length 1 for each text."""

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
    """

    def __init__(self, vectors: Vectors | None = None) -> None:
        self.vectors = vectors
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
        assert self.vectors is not None
        return np.asarray(self.vectors(_COMMON).mean(axis=0))

    def _centred(self, texts: Sequence[str]) -> FloatArray:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new and self.vectors is not None:
            vectors = self.vectors(new) - self._mean
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
