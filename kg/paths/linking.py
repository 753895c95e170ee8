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

from kg.graphs import FactGraph, GraphIndex, plain_name
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
        others: dict[str, tuple[str, ...]] = {}
        for node, name in own.items():
            for other in {*graph.names[node]} - {name}:
                others[other] = (*others.get(other, ()), name)
        return cls(GraphIndex.from_triples(facts), others)

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
        for length in range(min(self._longest, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                key = words[start : start + length]
                if names := sorted(self._labels.get(key, ())):
                    text = question[matches[start].start() : matches[start + length - 1].end()]
                    means = not all(stem(word) in STOPWORDS for word in key)
                    # Every question may begin with a capital.
                    is_name = text != text.lower() and (start > 0 or length > 1) and any(text in name for name in names)
                    rank = (means, is_name, length, len(text))
                    if best is None or rank > best[0]:
                        best = rank, Topics((text,) if text in names else tuple(names), text)
        return best[1] if best is not None else Topics()

    @cached_property
    def _labels(self) -> dict[tuple[str, ...], dict[str, None]]:
        """The entities by the words of their labels."""
        by_words: dict[tuple[str, ...], dict[str, None]] = {}
        names = [self.index.name(number) for number in range(len(self.index.entities))]
        others = [(label, owner) for label, owners in self.other_names.items() for owner in owners]
        for label, name in (*zip(names, names, strict=True), *others):
            if words := _words(label):
                by_words.setdefault(words, {})[name] = None
        return by_words

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._labels), default=0)

    def _named(self, name: str) -> tuple[str, ...]:
        """The entities of a name, or of a label with capitals and punctuation aside; empty where there are none."""
        if self.index.find(name) is not None:
            return (name,)
        return tuple(self.other_names.get(name, ())) or tuple(sorted(self._labels.get(_words(name), ())))


def _words(label: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(label))
