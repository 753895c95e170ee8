"""The names of a graph's relations, classes and nodes, compared with the words of questions.

>>> vocabulary = Vocabulary(graph, Similarity(encoder.vectors))
>>> vocabulary.likeness(["who wrote"])[0][written_by]
1.0

Relations and classes are numbered together as *items*: relations first, classes after them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kg.arrays import BoolArray, FloatArray
from kg.graphs import FactGraph
from kg.parsing.names import NameIndex
from kg.parsing.similarity import Similarity
from kg.text import folded, singular

_SAID_BY_PREPOSITION = 0.5
_VALUE_LIKENESS = 0.5
_WORDS_OF_VALUE, _MOST_VALUES = 3, 150
"""The longest value that words may mean, and the number of values that are compared with them."""

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
_JOINED, _SHOWING = 2, 20
"""The things that a fact such as a loan joins at least, and the members of a class that show what it is."""

_WORD, _SHORT_WORD = re.compile(r"[^\W\d_]+"), 3


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

    def names_class(self, text: str) -> bool:
        """Whether a text is the name of a class, in the singular or plural."""
        return singular(folded(text)) in self._class_names

    @cached_property
    def _class_names(self) -> frozenset[str]:
        return frozenset(singular(folded(name)) for one in self.graph.classes for name in one.names)

    def likeness(self, texts: Sequence[str]) -> FloatArray:
        """The similarity of texts with items: that with the best of their names; shape ``(texts, items)``."""
        likeness = np.zeros((len(texts), self.items), dtype=np.float32)
        if texts and self.item_names:
            np.maximum.at(likeness.T, np.array(self.owners), self.similarity.matrix(texts, self.item_names).T)
        return likeness

    @cached_property
    def _common_values(self) -> list[tuple[str, tuple[int, ...]]]:
        """The texts in lower case that are common nouns or adjectives, such as a status."""
        nodes_of: dict[str, list[int]] = {}
        for node, value in enumerate(self.graph.values):
            words = value.text.replace("-", " ").split() if value.kind == "text" and value.text[:1].islower() else []
            if 0 < len(words) <= _WORDS_OF_VALUE and words[-1].isalpha():
                nodes_of.setdefault(" ".join(words).lower(), []).append(node)
                if len(nodes_of) >= _MOST_VALUES:
                    break
        return [(text, tuple(nodes)) for text, nodes in nodes_of.items()]

    def dates_in(self, month: int, day: int) -> tuple[int, ...]:
        """The dates on a day of any year, or in a month where the day is 0."""
        dated = ((node, value.period) for node, value in enumerate(self.graph.values) if value.period is not None)
        return tuple(
            node
            for node, period in dated
            if period.first.month == period.last.month == month
            and period.first.year == period.last.year
            and day in (0, period.first.day)
            and (not day or period.first == period.last)
        )

    def values_like(self, texts: Sequence[str]) -> list[tuple[int, tuple[int, ...], float]]:
        """The values that texts mean: the place of the text, the nodes, and how like they are.

        A text that is more like a relation or class means that.
        """
        names = [text for text, _ in self._common_values]
        if not texts or not names:
            return []
        likeness = self.similarity.matrix(texts, names)
        items = self.likeness(texts).max(axis=1, initial=0.0)
        return [
            (int(row), self._common_values[place][1], float(likeness[row, place]))
            for row, place in zip(*np.nonzero(likeness >= _VALUE_LIKENESS), strict=True)
            if likeness[row, place] >= items[row]
        ]

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

    def with_word(self, word: str) -> FloatArray:
        """The support of each relation by a preposition of its name."""
        support = np.zeros(self.items, dtype=np.float32)
        for item, name in zip(self.owners, self.item_names, strict=True):
            if item < len(self.graph.relations) and word in name.lower().split():
                support[item] = _SAID_BY_PREPOSITION
        return support

    @cached_property
    def alone(self) -> list[int]:
        """The items of the classes with one member: "in the hospital" says nothing in the graph of one hospital."""
        return [self.class_item(kind) for kind, one in enumerate(self.graph.classes) if len(one.members) == 1]

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

    @cached_property
    def people(self) -> frozenset[int]:
        """The classes of people: by their names, or because their members were born."""
        likeness = self.likeness(["birth date", "spouse"])[:, : len(self.graph.relations)].max(axis=0, initial=0.0)
        alive = {
            place
            for place, kind in enumerate(self.graph.classes)
            if 2 * sum(self._has(node, likeness) for node in kind.members[:_SHOWING]) > len(kind.members[:_SHOWING])
        }
        others = self._classes_of_kind["animal"] | self._classes_of_kind["group"] | self._classes_of_kind["place"]
        return self._classes_of_kind["person"] | (alive - others)

    def _has(self, node: int, likeness: FloatArray) -> bool:
        return any(not inverse and likeness[relation] >= 0.8 for relation, inverse in self.graph.steps(node))

    @property
    def places(self) -> frozenset[int]:
        """The classes of places."""
        return self._classes_of_kind["place"] - self.people

    @property
    def groups(self) -> frozenset[int]:
        """The classes of organizations, which may do what people do."""
        return self._classes_of_kind["group"] - self.people

    @cached_property
    def events(self) -> frozenset[int]:
        """The classes of events, which join people, places and days, and are seldom asked for themselves.

        They are called so, or only join other things: no relation leads to a member, and it has a number for a name.
        """
        joining = frozenset(
            kind
            for kind, one in enumerate(self.graph.classes)
            if one.members and all(self._only_joins(node, one.names) for node in one.members[:_SHOWING])
        )
        return self._classes_of_kind["event"] | joining

    def _only_joins(self, node: int, classes: Sequence[str]) -> bool:
        steps = self.graph.steps(node)
        ends = sum(self.graph.relations[relation].kind == "entity" for relation, inverse in steps if not inverse)
        if ends < _JOINED or any(inverse for _, inverse in steps):
            return False
        named = {word for name in classes for word in name.lower().split()}
        return not {word for word in _WORD.findall(self.graph.name(node).lower()) if len(word) > _SHORT_WORD} - named

    def share_of_events(self, nodes: Sequence[int]) -> float:
        """The share of some nodes that are events, in [0, 1]."""
        some = nodes[:50]
        return sum(self.is_of(node, self.events) for node in some) / max(len(some), 1)

    def is_person(self, node: int) -> bool:
        """Whether a node is a person: by its class, else by a relation to it such as ``captain``."""
        if self.graph.types[node]:
            return self.is_of(node, self.people)
        return any(inverse and relation in self._to_people for relation, inverse in self.graph.steps(node))

    @cached_property
    def _to_people(self) -> frozenset[int]:
        """The relations whose name is a person's role."""
        kinds = self._kinds([one.names[0] for one in self.graph.relations]) if self.graph.relations else []
        return frozenset(
            place
            for place, one in enumerate(self.graph.relations)
            if one.kind in ("entity", "text") and kinds[place] == "person"
        )

    def is_of(self, node: int, kinds: frozenset[int]) -> bool:
        """Whether a node is of some classes."""
        return any(kind in kinds for kind in self.graph.types[node])
