"""The graph of a question, with linking of its topic entities by labels.

    >>> graph = QuestionGraph(GraphIndex.from_triples([("Alien", "directed_by", "Ridley Scott")]))
    >>> graph.topics("who directed Alien?")
    Topics(entities=('Alien',), label='Alien', unknown=())

The longest label wins, in words, because shorter ones inside it are accidents. A question that writes a label with its
capitals means a name, so that one goes before words that happen to be labels too ("the *director* of Roadkill"); labels
of function words alone ("The Who") count only where nothing else is found. Several entities may bear the label: then
all of them are returned, and whoever asked says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kg.graphs import FactGraph, GraphIndex
from kg.text import STOPWORDS, stem

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Topics:
    """The entities of a graph that a question is about.

    Attributes:
        entities: Their names in the graph; those that bear ``label`` are sorted.
        label: The words of the question by which they were found, where no topic was given.
        unknown: Topics that were given and are not in the graph.
    """

    entities: tuple[str, ...] = ()
    label: str = ""
    unknown: tuple[str, ...] = ()

    @property
    def is_ambiguous(self) -> bool:
        """Whether several entities bear the label."""
        return bool(self.label) and len(self.entities) > 1


@dataclass(frozen=True)
class QuestionGraph:
    """The graph that one question, or all, are asked of.

    Attributes:
        index: The graph.
        other_names: What entities are also called: labels, each with the names of the entities.
    """

    index: GraphIndex
    other_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: FactGraph) -> QuestionGraph:
        """The names of typed facts, with the classes of each node; of nodes with one name, all but one have their IRI.

        Args:
            graph: The facts.
        """
        names: dict[str, int] = {}
        for node in range(len(graph.values)):
            name = graph.name(node)
            names[name if name not in names else f"{name} <{graph.values[node].text}>"] = node
        own = {node: name for name, node in names.items()}
        facts = [
            (name, graph.relations[relation].names[0], own[other])
            for node, name in own.items()
            for relation, inverse in graph.steps(node)
            if not inverse
            for other in graph.follow(node, relation)
        ]
        facts += [
            (name, "is a", graph.classes[kind].names[0]) for node, name in own.items() for kind in graph.types[node]
        ]
        others: dict[str, list[str]] = {}
        for node, name in own.items():
            for other in graph.names[node]:
                if other != name:
                    others.setdefault(other, []).append(name)
        return cls(GraphIndex.from_triples(facts), {label: tuple(owners) for label, owners in others.items()})

    def topics(self, question: str, given: Iterable[str] = ()) -> Topics:
        """The entities that a question is about: those that are given, by name or label, or else those it names."""
        names = list(given)
        if not names:
            return self.link(question)
        entities = {name: self._named(name) for name in names}
        distinct = dict.fromkeys(entity for found in entities.values() for entity in found)
        return Topics(tuple(distinct), unknown=tuple(name for name in names if not entities[name]))

    def link(self, question: str) -> Topics:
        """The entities that bear the longest label in a question; none where it names none."""
        matches = list(_WORD.finditer(question))
        words = _words(question)
        best: tuple[tuple[bool, bool, int, int], Topics] | None = None
        for length in range(min(self._longest, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                key = words[start : start + length]
                if key in self._by_words:
                    text = question[matches[start].start() : matches[start + length - 1].end()]
                    linked = Topics(self._nearest(key, text), text)
                    means = not all(stem(word) in STOPWORDS for word in key)
                    # Every question may begin with a capital.
                    is_name = text != text.lower() and (start > 0 or length > 1) and text in linked.entities[0]
                    rank = (means, is_name, length, len(text))
                    if best is None or rank > best[0]:
                        best = rank, linked
        return best[1] if best is not None else self._link_wordless(question)

    @cached_property
    def _labels(self) -> tuple[dict[tuple[str, ...], dict[str, None]], dict[str, dict[str, None]]]:
        """The entities by the words of their labels, and by labels without any word ("$")."""
        by_words: dict[tuple[str, ...], dict[str, None]] = {}
        wordless: dict[str, dict[str, None]] = {}
        names = [self.index.name(number) for number in range(len(self.index.entities))]
        others = [(label, owner) for label, owners in self.other_names.items() for owner in owners]
        for label, name in (*zip(names, names, strict=True), *others):
            words = _words(label)
            owners = by_words.setdefault(words, {}) if words else wordless.setdefault(label, {})
            owners[name] = None
        return by_words, wordless

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._by_words), default=0)

    @property
    def _by_words(self) -> dict[tuple[str, ...], dict[str, None]]:
        return self._labels[0]

    def _named(self, name: str) -> tuple[str, ...]:
        """The entities of a name, or of a label with capitals and punctuation aside; empty where there are none."""
        if self.index.find(name) is not None:
            return (name,)
        words = _words(name)
        labelled = self._by_words.get(words, {}) if words else self._labels[1].get(name, {})
        return tuple(self.other_names.get(name, ())) or tuple(sorted(labelled))

    def _nearest(self, words: tuple[str, ...], text: str) -> tuple[str, ...]:
        """Of entities whose labels differ in capitals only, those that the question writes as they are."""
        names = sorted(self._by_words[words])
        exact = [name for name in names if name == text]
        return tuple(exact or names)

    def _link_wordless(self, question: str) -> Topics:
        for part in sorted(question.split(), key=len, reverse=True):
            if part in self._labels[1]:
                return Topics(tuple(sorted(self._labels[1][part])), part)
        return Topics()


def _words(label: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(label))
