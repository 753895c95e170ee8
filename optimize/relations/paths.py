"""Relation paths from a question's topics to its answers: the training data of a relation scorer.

    >>> example = RelationExample("who else did the director of Alien direct ?", ("Alien",), ("Blade Runner",))
    >>> locate(index, example, scorer, hops=2).paths      # the topic's place, directed_by, ^directed_by
    ((0, 0, 1),)

If a question has no gold path, every shortest path that reaches exactly the answers may be the right one. If there is
none, those with the highest F1 are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kg.errors import DataError
from kg.graphs import GraphIndex, Ids
from kg.paths import SEPARATOR, EntitySpace, LearnedRelationScorer, PathConfig, QuestionGraph, without
from kg.search import beam_search

LEAST_LIKE = 0.1
"""The harmonic mean of precision and recall that a path which is not exact must have to be learned from."""

LONGER = 0.05
"""By how much more like the answers a longer path must be than a shorter one."""

BUDGET = 4000
"""Paths that are followed for one question before the search for its path is given up."""

Path = tuple[int, ...]


@dataclass(frozen=True)
class RelationExample:
    """A question to learn from.

    Attributes:
        question: The question.
        topics: Names of the entities that it is about.
        answers: Names of all entities that answer it.
        path: The relations from the first topic to the answers, if they are known.
    """

    question: str
    topics: tuple[str, ...]
    answers: tuple[str, ...]
    path: tuple[str, ...] | None = None


@dataclass(frozen=True)
class LocatedExample:
    """An example in its graph.

    Attributes:
        example: The example.
        index: The graph.
        topics: Numbers of its topics that are in the graph, sorted.
        paths: The paths that may be right: the topic's place in ``topics``, then relations by number.
    """

    example: RelationExample
    index: GraphIndex
    topics: Ids
    paths: tuple[Path, ...] = ()

    @classmethod
    def of(cls, index: GraphIndex, example: RelationExample) -> LocatedExample:
        """An example whose paths are not known."""
        return cls(example, index, known_ids(index, example.topics))

    def space(self, scorer: LearnedRelationScorer, hops: int = 1) -> EntitySpace:
        """The paths from its topics as a scorer scores them."""
        config = PathConfig(max_depth=hops, answer_threshold=0.0)
        return EntitySpace(self.index, self.example.question, self.topics, scorer, config)

    def exact(self, space: EntitySpace, paths: Iterable[Path]) -> list[Path]:
        """Those of some paths that reach exactly the answers."""
        answers = known_ids(self.index, self.example.answers)
        return [path for path in paths if np.array_equal(space.reached(path), answers)]


def known_ids(index: GraphIndex, names: Sequence[str]) -> Ids:
    """The numbers of those names that are in the graph, sorted."""
    found = (index.find(name) for name in names)
    return np.unique(np.array([number for number in found if number is not None], dtype=np.int32))


def locate(index: GraphIndex, example: RelationExample, scorer: LearnedRelationScorer, hops: int) -> LocatedExample:
    """Finds an example's paths: its own, or those that lead to its answers.

    Args:
        index: The graph.
        example: The example.
        scorer: Its rule for paths that return to topics counts, its weights do not.
        hops: Relations of a path at the most.

    Raises:
        DataError: The example's path has a relation that the graph does not have.
    """
    located = LocatedExample.of(index, example)
    if example.path is None:
        return replace(located, paths=_searched(located, scorer, hops))
    first = index.find(example.topics[0]) if example.topics else None
    missing = [name for name in example.path if name not in index.relations]
    if missing:
        raise DataError(f"{example.question!r}: the path has {missing[0]!r}, which is not a relation of the graph")
    if first is None or not example.path:
        return located
    place = int(np.searchsorted(located.topics, first))
    return replace(located, paths=((place, *(index.relation(name) for name in example.path)),))


def propose(located: LocatedExample, scorer: LearnedRelationScorer, hops: int) -> LocatedExample:
    """Returns the example with the paths of a scorer that reach exactly the answers, if there are any."""
    if not len(located.topics):
        return located
    space = located.space(scorer, hops)
    completed = beam_search(space, replace(space.config, max_depth=hops + 1)).completed
    paths = [tuple(int(choice) for choice in state[:-1]) for frontier in completed for state in frontier.choices]
    return replace(located, paths=tuple(dict.fromkeys((*located.paths, *located.exact(space, paths)))))


def learn_return(index: GraphIndex, examples: Sequence[RelationExample], hops: int, seed: int) -> LearnedRelationScorer:
    """Learns from examples whether paths return to topics: a scorer without weights.

    They do not unless more of a hundred examples can be answered exactly if they do.
    """
    order = np.random.default_rng(seed).permutation(len(examples))[:100]

    def exact(scorer: LearnedRelationScorer) -> int:
        located = (locate(index, examples[number], scorer, hops) for number in order)
        return sum(bool(one.exact(one.space(scorer), one.paths)) for one in located)

    return max((LearnedRelationScorer({}, {}, may_return) for may_return in (False, True)), key=exact)


def _searched(located: LocatedExample, scorer: LearnedRelationScorer, hops: int) -> tuple[Path, ...]:
    """Returns the shortest paths that reach exactly the answers, or else those with the highest F1."""
    answers = known_ids(located.index, located.example.answers)
    if not scorer.may_return:
        answers = without(answers, located.topics)
    if not len(located.topics) or not len(answers):
        return ()
    best: list[tuple[float, Path]] = []
    for path, likeness in _reaching(located.space(scorer), answers, hops):
        if best and len(path) > len(best[0][1]) and best[0][0] == 1.0:
            break
        least = best[0][0] + (LONGER if len(path) > len(best[0][1]) else 0.0) if best else 0.0
        if not best or likeness > least:
            best = [(likeness, path)]
        elif likeness == best[0][0] and len(path) == len(best[0][1]):
            best.append((likeness, path))
    return tuple(path for likeness, path in best if likeness >= LEAST_LIKE)


def _reaching(space: EntitySpace, answers: Ids, hops: int) -> Iterator[tuple[Path, float]]:
    """Returns all paths that reach an answer, shorter ones first, each with the F1 of its entities."""
    index = space.index
    last = {index.inverse(int(back)): index.follow(answers, int(back)) for back in index.relations_of(answers)}
    level: list[Path] = [(place,) for place in range(len(space.topics))]
    followed = 0
    for depth in range(1, hops + 1):
        following: list[Path] = []
        for path in level:
            for relation in np.flatnonzero(index.offered_at(space.slots(path))).tolist():
                ending = relation in last and bool(np.isin(space.reached(path), last[relation]).any())
                if not ending and depth == hops:
                    continue
                followed += 1
                if followed > BUDGET:
                    return
                if ending:
                    yield (*path, relation), likeness_of(space.reached((*path, relation)), answers)
                following.append((*path, relation))
        level = following


def likeness_of(found: Ids, answers: Ids) -> float:
    """The harmonic mean of precision and recall."""
    shared = len(np.intersect1d(found, answers, assume_unique=True))
    return 2 * shared / (len(found) + len(answers)) if len(found) + len(answers) else 0.0


def relation_examples(graph: QuestionGraph, questions: Sequence[Any]) -> list[RelationExample]:
    """Returns questions as examples to learn from, each with its gold path if the graph has its relations.

    Args:
        graph: The graph.
        questions: Objects with ``question``, ``topics``, ``answers`` and ``gold_paths``.
    """
    examples, relations = [], set(graph.index.relations)
    for question in questions:
        topics = graph.topics(question.question, question.topics).entities
        parts = question.gold_paths[0].split(SEPARATOR) if question.gold_paths else []
        known = len(parts) > 1 and topics[:1] == (parts[0],) and set(parts[1::2]) <= relations
        path = tuple(parts[1::2]) if known else None
        examples.append(RelationExample(question.question, topics, question.answers, path))
    return examples
