"""The graph of a question, with linking of its topic entities by labels.

    >>> graph = QuestionGraph.over(GraphIndex.from_triples([("Alien", "directed_by", "Ridley Scott")]))
    >>> graph.topics("who directed Alien?")
    Topics(entities=('Alien',), label='Alien', unknown=())

The longest label wins, in words, because shorter ones inside it are accidents. A question that writes a label with its
capitals means a name, so that one goes before words that happen to be labels too ("the *director* of Roadkill"); labels
of function words alone ("The Who") count only where nothing else is found. Several entities may bear the label: then
all of them are returned, and whoever asked says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count

from kg.graphs import FactGraph, GraphIndex, Postings, plain_name, postings
from kg.text import STOPWORDS, stem

_WORD = re.compile(r"[^\W_]+")

MOST_BEARERS = 1000
"""Entities of one label that a question may mean."""


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
    """The graph that one question, or all, are asked of; create it by :meth:`over` or :meth:`of`.

    Attributes:
        index: The graph.
        labels: The entities by the words of their labels, and by each label other than a name after a ``=``.
        longest: The most words of a label.
    """

    index: GraphIndex
    labels: Postings
    longest: int

    @classmethod
    def over(cls, index: GraphIndex, others: Iterable[tuple[str, int]] = ()) -> QuestionGraph:
        """A graph whose entities have labels.

        Args:
            index: The graph.
            others: What entities are called besides their names: labels, each with the number of an entity.
        """
        longest = 0

        def keys() -> Iterator[tuple[str, int]]:
            nonlocal longest
            for place, (label, owner) in enumerate(chain(zip(index.entities, count()), others)):
                if words := _WORD.findall(label):
                    longest = max(longest, len(words))
                    yield " ".join(words).casefold(), owner
                if place >= len(index.entities):
                    yield f"={label}", owner

        labels = postings(keys())
        return cls(index, labels, longest)

    @classmethod
    def of(cls, graph: FactGraph) -> QuestionGraph:
        """The names of typed facts, with the classes of each node; of nodes with one name, all but one have their IRI.

        Args:
            graph: The facts.
        """
        names: dict[str, int] = {}
        for node in range(len(graph.values)):
            name = plain_name(graph.name(node))
            names[name if name not in names else f"{name} <{graph.values[node].text}>"] = node
        own = {node: name for name, node in names.items()}
        facts = [
            (name, graph.relations[relation].written, own[other])
            for node, name in own.items()
            for relation, inverse in graph.steps(node)
            for other in graph.follow(node, relation)
            if not inverse
        ]
        facts += [
            (name, "is a", graph.classes[kind].names[0]) for node, name in own.items() for kind in graph.types[node]
        ]
        index = GraphIndex.from_triples(facts)
        numbers = ((node, index.find(name)) for node, name in own.items())
        others = ((other, number) for node, number in numbers if number is not None for other in graph.names[node])
        return cls.over(index, ((other, number) for other, number in others if other != index.name(number)))

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
        matches, words = list(_WORD.finditer(question)), _words(question)
        best: tuple[tuple[bool, bool, int, int], Topics] | None = None
        for length in range(min(self.longest, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                key = words[start : start + length]
                if names := self._bearers(" ".join(key)):
                    text = question[matches[start].start() : matches[start + length - 1].end()]
                    means = not all(stem(word) in STOPWORDS for word in key)
                    # Every question may begin with a capital.
                    is_name = text != text.lower() and (start > 0 or length > 1) and any(text in name for name in names)
                    rank = (means, is_name, length, len(text))
                    if best is None or rank > best[0]:
                        best = rank, Topics((text,) if text in names else tuple(names), text)
        return best[1] if best is not None else Topics()

    def _bearers(self, key: str) -> list[str]:
        return sorted({self.index.name(owner) for owner in self.labels.find(key)[:MOST_BEARERS].tolist()})

    def _named(self, name: str) -> tuple[str, ...]:
        """The entities of a name, or of a label with capitals and punctuation aside; empty where there are none."""
        if self.index.find(name) is not None:
            return (name,)
        return tuple(self._bearers(f"={name}") or self._bearers(" ".join(_words(name))))


def _words(label: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(label))
