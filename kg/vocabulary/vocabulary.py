"""The names of a graph's relations, classes and nodes, compared with the words of questions.

>>> vocabulary = Vocabulary(graph, Similarity(encoder.vectors, thesaurus))
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
from kg.discourse import Traits
from kg.facts import FactGraph, dimension_of
from kg.text import folded, singular
from kg.vocabulary.lexicon import shipped_lexicon
from kg.vocabulary.names import NameIndex
from kg.vocabulary.siblings import siblings_of
from kg.vocabulary.similarity import Similarity
from kg.vocabulary.words import GENDERED, MEASURED_BY, MEASURES, degree_of

_SAID_BY_PREPOSITION = 0.5
_SAID_BY_UNIT = 0.7
_OTHER_RELATION = 0.4
"""The share that is left of the similarity of a word that names another relation of the lexicon."""
_GENDERS = {"male": ("male", "m", "man"), "female": ("female", "f", "woman")}
_IS_GENDER = 0.9
_VALUE_LIKENESS = 0.4
_WORDS_OF_VALUE, _MOST_VALUES = 3, 150
"""The longest value that words may mean, and the number of values that are compared with them."""
_PEOPLE = ("person", "human", "man or woman", "employee", "politician", "athlete", "scientist", "doctor", "teacher")
_PLACES = ("place", "city", "country", "location", "building", "region", "address")
_GROUPS = ("organization", "company")
_SITES = ("location", "structure", "establishment", "building", "country", "town", "island", "body of water")
_AGENTS = ("ist", "smith", "man", "keeper", "master")
"""Endings of the nouns for people that a thesaurus need not have: "arborist"."""

_ANIMALS = ("animal", "pet", "livestock")
_JOINED, _SHOWING = 2, 20
"""The things that a fact such as a loan joins at least, and the members of a class that show what it is."""

_WORD, _SHORT_WORD = re.compile(r"[^\W\d_]+"), 3
_THINGS = ("thing", "object", "product", "event", "organization", "company", "document", "number",
           "work of art", "painting", "film", "book", "machine", "vehicle", "software", "animal")  # fmt: skip


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
        self.siblings = siblings_of(graph)
        self.owners = [place for place, one in enumerate(graph.relations) for _ in one.names]
        self.owners += [len(graph.relations) + place for place, one in enumerate(graph.classes) for _ in one.names]
        self.item_names = [name for one in graph.relations for name in one.names]
        self.item_names += [name for one in graph.classes for name in one.names]
        self.items = len(graph.relations) + len(graph.classes)
        thesaurus = similarity.thesaurus
        self.lexicon = shipped_lexicon(None if thesaurus is None else thesaurus.lemmas)
        relations = len(graph.relations)
        self._kinds_of: dict[str, list[int]] = {}
        self._related = sum(len(one.names) for one in graph.relations)
        self._lines: list[set[int]] = [set() for _ in range(relations)]
        for owner, name in zip(self.owners, self.item_names, strict=True):
            if owner < relations:
                self._lines[owner] |= {line for line, fit in self.lexicon.lines_of(name).items() if fit == 1}

    def class_item(self, kind: int) -> int:
        """The item of a class."""
        return len(self.graph.relations) + kind

    def class_columns(self, items: FloatArray) -> FloatArray:
        """The columns of classes in a table with a column an item."""
        return items[..., len(self.graph.relations) :]

    def names_class(self, text: str) -> bool:
        """Whether a text is the name of a class, in the singular or plural."""
        return singular(folded(text)) in self._class_names

    @cached_property
    def _class_names(self) -> frozenset[str]:
        return frozenset(singular(folded(name)) for one in self.graph.classes for name in one.names)

    def likeness(self, texts: Sequence[str]) -> FloatArray:
        """The similarity of texts with items: that with the best of their names; shape ``(texts, items)``."""
        found = np.zeros((len(texts), self.items), dtype=np.float32)
        if not texts or not self.item_names:
            return found
        np.maximum.at(found.T, np.array(self.owners), self.similarity.matrix(texts, self.item_names).T)
        self._contrast(texts, found)
        asked, _ = self.lexicon.asked(texts, self.item_names[: self._related])
        np.maximum.at(found.T, np.array(self.owners[: self._related], dtype=np.int64), asked.T)
        same = self.lexicon.same_class(texts, self.item_names[self._related :])
        np.maximum.at(found.T, np.array(self.owners[self._related :], dtype=np.int64), same.T)
        return found

    def turned(self, texts: Sequence[str]) -> FloatArray:
        """The support of relations against their direction, "child" for ``parent``; shape ``(texts, items)``."""
        found = np.zeros((len(texts), self.items), dtype=np.float32)
        _, turned = self.lexicon.asked(texts, self.item_names[: self._related])
        np.maximum.at(found.T, np.array(self.owners[: self._related], dtype=np.int64), turned.T)
        return found

    def absent(self, texts: Sequence[str]) -> FloatArray:
        """Whether texts say that a relation is lacking: "alive" for ``death date``; shape ``(texts, items)``."""
        found = np.zeros((len(texts), self.items), dtype=np.float32)
        lacking = self.lexicon.absent(texts, self.item_names[: self._related])
        np.maximum.at(found.T, np.array(self.owners[: self._related], dtype=np.int64), lacking.T)
        return found

    def _contrast(self, texts: Sequence[str], found: FloatArray) -> None:
        """Lowers the similarity of a text with relations that have another line of the lexicon: "boiling point"."""
        for row, text in enumerate(texts):
            lines = {line for line, fit in self.lexicon.lines_of(text).items() if fit == 1}
            if lines:
                other = [place for place, own in enumerate(self._lines) if own and not own & lines]
                exact = found[row, other] >= 1
                found[row, other] = np.where(exact, found[row, other], found[row, other] * _OTHER_RELATION)

    @cached_property
    def _common_values(self) -> list[tuple[str, tuple[int, ...]]]:
        """The texts that are common nouns or adjectives, such as a status: in lower case, or known to the thesaurus."""
        thesaurus = self.similarity.thesaurus
        found: dict[str, list[int]] = {}
        for node, value in enumerate(self.graph.values):
            words = value.text.lower().replace("-", " ").split() if value.kind == "text" else []
            if not 0 < len(words) <= _WORDS_OF_VALUE or not words[-1].isalpha():
                continue
            if value.text[:1].isupper() and (thesaurus is None or not thesaurus.lemmas(words[-1])):
                continue
            found.setdefault(" ".join(words), []).append(node)
            if len(found) >= _MOST_VALUES:
                break
        return [(text, tuple(nodes)) for text, nodes in found.items()]

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
        likeness = self.similarity.same(texts, names)
        items = self.likeness(texts).max(axis=1, initial=0.0)
        return [
            (int(row), self._common_values[place][1], float(likeness[row, place]))
            for row, place in zip(*np.nonzero(likeness >= _VALUE_LIKENESS), strict=True)
            if likeness[row, place] >= items[row]
        ]

    def by_unit(self, word: str) -> FloatArray:
        """The support of each relation by a word that speaks of what its unit measures: "cost" for an amount in EUR."""
        found = np.zeros(self.items, dtype=np.float32)
        measured = MEASURED_BY.get(word)
        if measured is None:
            return found
        for item, one in enumerate(self.graph.relations):
            named = set(one.names[0].lower().split()) & MEASURES
            degree = degree_of(word)
            if named and degree is not None and not named & set(degree.measures):
                continue  # "deep" is not said of a length
            if one.unit and dimension_of(one.unit) in measured:
                found[item] = _SAID_BY_UNIT
        return found

    @cached_property
    def senses(self) -> FloatArray:
        """The vector of each relation with the classes of its ends; shape ``(relations, width)``."""
        assert self.similarity.vectors is not None
        return self.similarity.vectors([self._described(one) for one in range(len(self.graph.relations))])

    def sense(self, question: str) -> FloatArray:
        """The cosine of a whole question with each relation; zeros without vectors."""
        if self.similarity.vectors is None or not self.graph.relations:
            return np.zeros(len(self.graph.relations), dtype=np.float32)
        found: FloatArray = self.senses @ self.similarity.vectors([question])[0]
        return found

    def named_otherwise(self, texts: Sequence[str]) -> list[int]:
        """The relations that are not meant by texts that name relations of the lexicon: "king" is no citizenship."""
        named = {
            line for text in texts if self.lexicon.is_name(text)
            for line, fit in self.lexicon.lines_of(text).items() if fit == 1
        }  # fmt: skip
        return [place for place, own in enumerate(self._lines) if named and own and not own & named]

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
        first, last = (found.most_common(1)[0][0] if found else "" for found in (starts, ends))
        return " ".join(f"{first} {self.graph.relations[relation].names[0]} {last}".split())

    def with_word(self, word: str) -> FloatArray:
        """The support of each relation by a preposition of its name."""
        found = np.zeros(self.items, dtype=np.float32)
        for item, name in zip(self.owners, self.item_names, strict=True):
            if item < len(self.graph.relations) and word in name.lower().split():
                found[item] = _SAID_BY_PREPOSITION
        return found

    @cached_property
    def alone(self) -> list[int]:
        """The items of the classes with one member: "in the hospital" says nothing in the graph of one hospital."""
        return [self.class_item(kind) for kind, one in enumerate(self.graph.classes) if len(one.members) == 1]

    @cached_property
    def times(self) -> BoolArray:
        """Whether each item is a relation of dates or of ages."""
        ages = self.likeness(["age"])[0] >= 0.8
        dates = [one.kind == "date" for one in self.graph.relations] + [False] * len(self.graph.classes)
        found: BoolArray = np.array(dates, dtype=bool) | ages
        return found

    @cached_property
    def genders(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """The relation and the values of each gender, where the graph has such a relation."""
        found: dict[str, tuple[int, tuple[int, ...]]] = {}
        likeness = self.likeness(["gender"])[0]
        for relation in range(len(self.graph.relations)):
            for gender, written in _GENDERS.items() if likeness[relation] >= _IS_GENDER else ():
                values = tuple(
                    node
                    for node in range(len(self.graph.values))
                    if self.graph.name(node).lower() in written and self.graph.follow(node, relation, inverse=True)
                )
                if values:
                    found[gender] = relation, values
        return found

    def traits(self, node: int) -> Traits:
        """The traits that pronouns agree with."""
        is_person = self.is_person(node)
        is_known = is_person or bool(self.graph.types[node] and self.people)
        return Traits(is_person if is_known else None, self.is_of(node, self.places), self.gender_of(node))

    def gender_of(self, node: int) -> str:
        """The gender of a node, by its own fact or by a relation to it such as ``wife``; empty if nothing says it."""
        for gender, (relation, values) in self.genders.items():
            if set(values) & set(self.graph.follow(node, relation)):
                return gender
        said = {
            GENDERED[word]
            for relation, inverse in self.graph.steps(node) if inverse
            for word in self.graph.relations[relation].names[0].lower().split() if word in GENDERED
        }  # fmt: skip
        return said.pop() if len(said) == 1 else ""

    @cached_property
    def people(self) -> frozenset[int]:
        """The classes of people."""
        animals = self._like(_ANIMALS, _PEOPLE) | self._kinds(("animal",))
        alive = self._with_relations(("birth date", "spouse", "born")) - animals
        return self._kinds(("person",)) | (alive - self._kinds((*_GROUPS, *_SITES))) | self._unknown_people

    @cached_property
    def places(self) -> frozenset[int]:
        """The classes of places."""
        known = self._kinds(_SITES) if self.similarity.thesaurus is not None else frozenset()
        return (known | self._like(_PLACES, (*_PEOPLE, *_THINGS))) - self.people

    @cached_property
    def groups(self) -> frozenset[int]:
        """The classes of organizations, which may do what people do."""
        return self._kinds(_GROUPS) - self.people

    @cached_property
    def events(self) -> frozenset[int]:
        """The classes of events, which join people, places and days, and are seldom asked for themselves."""
        return self._kinds(("event", "act")) | self._joining

    @cached_property
    def _joining(self) -> frozenset[int]:
        """The classes that only join other things: no relation leads to a member, and it has a number for a name."""
        return frozenset(
            kind
            for kind, one in enumerate(self.graph.classes)
            if one.members and all(self._only_joins(node, one.names) for node in one.members[:_SHOWING])
        )

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
        return frozenset(
            relation
            for relation, one in enumerate(self.graph.relations)
            if one.kind in ("entity", "text") and any(self._is_kind(name, ("person",)) for name in one.names)
        )

    @cached_property
    def _unknown_people(self) -> frozenset[int]:
        """The classes of people by vectors, where the thesaurus does not know the name."""
        thesaurus = self.similarity.thesaurus
        found = self._like(_PEOPLE, (*_PLACES, *_THINGS))
        if thesaurus is None:
            return found
        return frozenset(
            kind for kind in found if not thesaurus.lemmas(self.graph.classes[kind].names[0].lower().split()[-1])
        )

    def kinds_of(self, noun: str) -> list[int]:
        """The classes that are kinds of what a noun names: dogs and cats for "animals"."""
        if noun not in self._kinds_of:
            names = [noun] if self.similarity.thesaurus is not None else []
            self._kinds_of[noun] = sorted(self._kinds(names))
        return self._kinds_of[noun]

    def _kinds(self, general: Sequence[str]) -> frozenset[int]:
        """The classes whose name is a kind of something by its most frequent sense."""
        classes = enumerate(self.graph.classes)
        return frozenset(kind for kind, one in classes if any(self._is_kind(name, general) for name in one.names))

    def _is_kind(self, name: str, general: Sequence[str]) -> bool:
        thesaurus = self.similarity.thesaurus
        words = name.lower().replace("-", " ").split()
        if thesaurus is None or not words:
            return False
        if not thesaurus.lemmas(words[-1]):
            return "person" in general and len(words[-1]) > 5 and words[-1].endswith(_AGENTS)
        return any(thesaurus.is_a(words[-1], one) == 1 for one in general)

    def _like(self, wanted: Sequence[str], others: Sequence[str]) -> frozenset[int]:
        names = [one.names[0] for one in self.graph.classes]
        if not names:
            return frozenset()
        first = self.similarity.matrix(names, wanted).max(axis=1)
        second = self.similarity.matrix(names, others).max(axis=1)
        return frozenset(int(place) for place in np.flatnonzero((first > 0.3) & (first > second)))

    def _with_relations(self, names: Sequence[str]) -> frozenset[int]:
        likeness = self.likeness(names)[:, : len(self.graph.relations)].max(axis=0)
        found: set[int] = set()
        for place, kind in enumerate(self.graph.classes):
            some = kind.members[:20]
            have = sum(
                any(not inverse and likeness[one] >= 0.8 for one, inverse in self.graph.steps(node)) for node in some
            )
            if some and have * 2 > len(some):
                found.add(place)
        return frozenset(found)

    def is_of(self, node: int, kinds: frozenset[int]) -> bool:
        """Whether a node is of some classes."""
        return any(kind in kinds for kind in self.graph.types[node])
