"""Paths of relations through any graph, as a space for the beam that also searches derivations.

    >>> answer = answer_question(index, "who directed Alien ?", ["Alien"], scorer)
    >>> answer.answers
    (('Ridley Scott', -0.01),)
    >>> str(answer.paths[0])
    'Alien -> directed_by -> Ridley Scott'

A state is a topic entity with the relations followed from it, and stands for the *set* of entities that these reach: a
question with a thousand answers takes as many states as one with a single answer. What the question says of single
entities, such as "the 44th", then tells them apart by their own facts (:mod:`kg.paths.name_words`). Concrete paths of
triples are traced back for what is returned. A path is written ``e_0 -> r_1 -> e_1``; a step against a triple's
direction has ``^`` before its relation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kg.arrays import BoolArray, DoubleArray, IntArray
from kg.errors import ConfigError
from kg.graphs import MOST_EDGES, GraphIndex, Ids
from kg.paths.features import QuestionView, letters, relation_words
from kg.paths.name_words import Conditions, NameWords
from kg.paths.scorer import LearnedRelationScorer, RelationStep
from kg.search import (
    Action,
    BeamConfig,
    Expansion,
    Frontier,
    SearchStatistics,
    beam_search,
    merge,
)
from kg.text import STOPWORDS, stem


@dataclass(frozen=True)
class PathConfig(BeamConfig):
    """Settings of the search for paths; ``max_depth`` counts relations.

    Attributes:
        answer_threshold: Probability in [0, 1] of stopping from which a path answers. The path is continued as well,
            so that less probable paths are among the further answers. With 0.5 only probable answers are returned.
    """

    answer_threshold: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.answer_threshold <= 1:
            raise ConfigError(f"answer_threshold must be in [0, 1], got {self.answer_threshold}")


NEGLIGIBLE = -11.0
"""The log-probability below which a step is not taken, however much room the beam has."""

SEPARATOR = " -> "

MOST_ANSWERS = 10_000
"""Answers of a relation path at the most; more of them are counted."""

_WEIGHED, _SAME = 50, 1e-6
"""Relation paths whose entities are compared with the question, and the difference of entities that fit alike."""

_LOG_ODDS = (2.69, -2.04, -1.34, 2.94, -1.29, -0.38, -0.43)
"""That a path without training answers: always, the share of the question's words that are left over, steps that no
word names, the likeness of words left over to the relations, the first word left over, their number, the log of the
answers. Fitted on questions of outside writers, each once more with a foreign word, which leaves it without answer."""

Path = tuple[int, ...]
"""A topic's place among the topics, then relations by number."""


@dataclass(frozen=True)
class EntityPath:
    """A path of triples from a topic entity to an answer.

    Attributes:
        entities: One more than relations, the topic first.
        relations: With ``^`` where a triple is followed from its object to its subject.
        score: Log-probability of its relations.
    """

    entities: tuple[str, ...]
    relations: tuple[str, ...]
    score: float

    @property
    def answer(self) -> str:
        """The last entity."""
        return self.entities[-1]

    def __str__(self) -> str:
        steps = zip(self.relations, self.entities[1:], strict=True)
        return SEPARATOR.join((self.entities[0], *(name for step in steps for name in step)))


@dataclass(frozen=True)
class RelationPath:
    """A topic entity and the relations followed from it.

    Attributes:
        names: The topic, then at least one relation.
        score: Log-probability.
        reached: How many entities it reaches that may be answers.
        choices: The topic's place among the topics, then the relations by number.
    """

    names: tuple[str, ...]
    score: float
    reached: int
    choices: Path

    def __str__(self) -> str:
        return SEPARATOR.join(self.names)


@dataclass(frozen=True)
class EntityPathAnswer:
    """The result of a search for a question.

    Attributes:
        answers: Entities with the log of the summed probabilities of the relation paths that reach them, less what
            does not fit, best first, equal scores by name: those of ``chosen``, and up to ``output_top_k`` others.
        paths: For each of ``answers``, in their order, one concrete path that ends in it.
        relation_paths: The completed relation paths: the best one that reaches the first answer, which is chosen, then
            the others, best first.
        chosen: What the chosen relation path reaches and fits the question best, in the order of ``answers``: the set
            to be compared with all gold answers.
        statistics: What the search did; depths count relations.
        left_out: Entities beyond :data:`MOST_ANSWERS` that would be among ``chosen``.
        space: Where the paths lead; ``None`` without any.
    """

    answers: tuple[tuple[str, float], ...]
    paths: tuple[EntityPath, ...]
    relation_paths: tuple[RelationPath, ...]
    chosen: tuple[str, ...]
    statistics: SearchStatistics
    left_out: int = 0
    space: EntitySpace | None = field(default=None, repr=False, compare=False)

    @property
    def untrained_confidence(self) -> float:
        """The probability that ``chosen`` is right without training, by the question's words that are left over."""
        assert self.space is not None
        space, best = self.space, self.relation_paths[0]
        view = QuestionView.of(space.question, [space.index.name(topic) for topic in space.topics])
        stems = dict.fromkeys(stem(word) for word in view.words if len(word) > 1 or word.isdigit())
        said = [word for word in stems if word not in STOPWORDS]
        steps = [relation_words(name)[0] for name in best.names[1:]]
        covered = [{stem(word) for word in step} for step in steps]
        fit, known = float(space.fit(best.choices).max()), space.conditions
        met = {*known.words} if known is not None and fit > 1 - _SAME else set()
        over = [word for word in said if word not in met.union(*covered)]
        runs = letters(" ".join(word for step in steps for word in step))
        likeness = sum(len(letters(word) & runs) / len(letters(word)) for word in over)
        unnamed = sum(step.isdisjoint(said) for step in covered)
        share = len(over) / len(said) if said else 1.0
        values = (1, share, unnamed, likeness, over[:1] == said[:1] != [], len(over))
        odds = np.dot(_LOG_ODDS, (*values, np.log(len(self.chosen))))
        return float(1 / (1 + np.exp(-odds)))

    def concrete(self, path: RelationPath, most: int | None = None) -> list[EntityPath]:
        """A concrete path to each entity that a relation path reaches: those that fit the question best, then by name.

        Args:
            path: One of the relation paths.
            most: The most entities; ``None`` for all.
        """
        assert self.space is not None
        fit = self.space.fit(path.choices)
        best = np.argsort(-fit, kind="stable")[:most]
        paths = _traced(self.space, path.choices, path.score, self.space.reached(path.choices)[best])
        order = sorted(range(len(paths)), key=lambda place: (-fit[best[place]], paths[place].answer))
        return [paths[place] for place in order]


class EntitySpace:
    """All paths of relations from the topic entities of a question.

    Args:
        index: The graph.
        question: The question.
        topics: Numbers of the entities that it is about, at least one.
        scorer: What scores the relations.
        config: The beam's settings.

    Attributes:
        left_out: The edges along each path that :meth:`reached` does not follow.
    """

    def __init__(
        self, index: GraphIndex, question: str, topics: Ids, scorer: LearnedRelationScorer, config: PathConfig
    ) -> None:
        self.index, self.question, self.topics = index, question, topics
        self.scorer, self.config = scorer, config
        self.stop = len(index.relations)
        self._names = tuple(index.name(topic) for topic in topics)
        self._reached: dict[Path, Ids] = {(n,): topics[n : n + 1] for n in range(len(topics))}
        self._words: dict[Path, IntArray] = {}
        self.left_out = dict.fromkeys(self._reached, 0)

    def slots(self, path: Path) -> Ids:
        """The slots (:meth:`kg.graphs.index.GraphIndex.slots_of`) of the entities that a path leads to."""
        return self.index.slots_of(self.reached(path))

    def reached(self, path: Path) -> Ids:
        """The entities that a path of choices (the topic's place first) leads to, sorted.

        Of many, those whose facts the question names, and the first of the graph, up to :data:`MOST_EDGES`.
        """
        if path not in self._reached:
            slots = self.slots(path[:-1])
            ends = self._sampled(self.index.follow_slots(slots, path[-1]))
            left_out = self.left_out[path[:-1]] + max(self.index.count(slots, path[-1]) - MOST_EDGES, 0)
            self._reached[path], self.left_out[path] = self._allowed(ends), left_out
        return self._reached[path]

    def _sampled(self, ends: Ids) -> Ids:
        if len(ends) <= MOST_EDGES:
            return ends
        named = self.conditions.beside if self.conditions is not None else ends[:0]
        return np.union1d(named[among(named, ends)], ends[:MOST_EDGES])

    def steps(self, path: Path, ends: Ids) -> tuple[NDArray[Any], NDArray[Any]]:
        """The last steps of the ways along a path: places among some of its ends, sorted, and among those before."""
        index, relation, before = self.index, path[-1], self.reached(path[:-1])
        sources = index.sources(before, relation) if len(before) > 1 else np.zeros(1, dtype=np.int32)
        if len(sources) == 1:
            return np.arange(len(ends)), np.repeat(sources, len(ends))
        inverse = index.inverse(relation)
        back = index.count(index.slots_of(ends), inverse)
        if back <= MOST_EDGES and back < index.count(self.slots(path[:-1]), relation):
            edges = index.edges(ends, inverse)
            inside = among(edges.target, before)
            return edges.place[inside], before.searchsorted(edges.target[inside])
        edges = index.edges(before, relation)
        inside = among(edges.target, ends)
        return ends.searchsorted(edges.target[inside]), edges.place[inside]

    def _allowed(self, ids: Ids) -> Ids:
        return ids if self.scorer.may_return else without(ids, self.topics)

    def words(self, path: Path) -> IntArray:
        """Of each entity of :meth:`reached`, the words of the question that the facts of a way to it have, as bits.

        The name of an entity on the way counts, that of the last one does not.
        """
        if path not in self._words:
            ends, conditions = self.reached(path), self.conditions
            if conditions is None or len(path) == 1:
                return np.zeros(len(ends), dtype=np.int64)
            before = self.words(path[:-1]) | (conditions.own(self.reached(path[:-1])) if len(path) > 2 else 0)
            place, source = self.steps(path, ends)
            words = before[source]
            order = np.lexsort((conditions.weigh(words), place))
            last = np.flatnonzero(np.append(np.diff(place[order]), 1))
            self._words[path] = words[order][last] | conditions.facts(ends)
        return self._words[path]

    @cached_property
    def conditions(self) -> Conditions | None:
        """The words of the question about single entities, by which :meth:`fit` tells them apart."""
        words = self.scorer.open_words(self.question, self._names)
        return NameWords.of(self.index).conditions(self.index, words, self.topics) if words else None

    def fit(self, path: Path) -> DoubleArray:
        """The fit of each entity of :meth:`reached` to the conditions of the question, in [0, 1].

        A question does not ask for what it names: where the path leads to that, it is no condition of the others.
        """
        ends = self.reached(path)
        if self.conditions is None:
            return np.zeros(len(ends))
        named = self.conditions.own(ends)
        words = self.words(path) & ~np.bitwise_or.reduce(named, initial=0)
        fit = self.conditions.weigh(words | self.conditions.of_relations(self.names(path)))
        fit[named > 0] = 0
        return fit

    def facts(self, entity: str, most: int) -> list[str]:
        """Some facts of an entity, one for each relation: what the question names first, then in the graph's order.

        Such as "ordinal 44" or "starred Sigourney Weaver and 3 more".
        """
        known, rows = self.conditions.named if self.conditions is not None else self.topics[:0], []
        for relation, targets in self.index.facts(self.index.ids([entity])[0]):
            named = known[among(known, targets)]
            rows.append((not len(named), relation, (named if len(named) else targets)[0], len(targets) - 1))
        return [
            f"{self.index.relations[relation]} {self.index.name(target)}{f' and {more} more' if more else ''}"
            for _, relation, target, more in sorted(rows)[:most]
        ]

    def followed(self, path: EntityPath, relation: str, most: int) -> tuple[list[EntityPath], int]:
        """A path with one more step along a relation, and how many entities that step leads to.

        Args:
            path: A path that begins at one of the topics.
            relation: A relation of its last entity; any other leads nowhere.
            most: The most paths: those to the entities that fit the question best.
        """
        index, last = self.index, self.index.ids([path.answer])
        if relation not in index.relations:
            return [], 0
        number = index.relation(relation)
        every = index.follow(last, number)
        ends = self._allowed(self._sampled(every))
        taken = np.array([[index.relation(name) for name in path.relations]], dtype=np.int64).reshape(1, -1)
        step = RelationStep(
            self.question, self._names, index.relations, taken, index.offered_at(index.slots_of(last))[None]
        )
        score = path.score + float(self.scorer.log_probabilities(step)[0, number])
        fit = self.conditions.weigh(self.conditions.facts(ends)) if self.conditions is not None else np.zeros(len(ends))
        best = ends[np.argsort(-fit, kind="stable")[:most]]
        relations = (*path.relations, relation)
        return [EntityPath((*path.entities, index.name(end)), relations, score) for end in best], max(
            len(ends), len(every) - len(self.topics)
        )

    def names(self, path: Path) -> tuple[str, ...]:
        """The relations of a path of choices."""
        return tuple(self.index.relations[relation] for relation in path[1:])

    def roots(self) -> Frontier:
        """One state a topic entity, all equally likely."""
        count = len(self.topics)
        return Frontier(np.arange(count)[:, None], np.full(count, -np.log(count), dtype=np.float32))

    def expand(self, frontier: Frontier) -> Expansion:
        """The offered relations of every state, and stopping where it is probable enough; one call of the scorer."""
        depth = frontier.choices.shape[1] - 1
        paths = [tuple(state) for state in frontier.choices.tolist()]
        offered = np.zeros((len(paths), self.stop), dtype=np.bool_)
        if depth < self.config.max_depth:
            for row, path in enumerate(paths):
                offered[row] = self.index.offered_at(self.slots(path))
        step = RelationStep(self.question, self._names, self.index.relations, frontier.choices[:, 1:], offered)
        scores = self.scorer.log_probabilities(step)
        can_stop = np.array([depth > 0 and len(self.reached(path)) > 0 for path in paths], dtype=np.bool_)
        led_on = offered.any(axis=1)
        is_likely = scores[:, -1] >= np.log(max(self.config.answer_threshold, 1e-30))
        offered &= scores[:, :-1] >= NEGLIGIBLE
        possible = np.concatenate([offered, (can_stop & (is_likely | ~led_on))[:, None]], axis=1)
        parent, choice = np.nonzero(possible & np.isfinite(scores))
        action = np.where(choice == self.stop, int(Action.ANSWER), int(Action.CONTINUE))
        return Expansion(parent, choice, scores[parent, choice], action)


Ranking = Callable[[EntitySpace, Sequence[tuple[Path, float]]], tuple[list[Path], list[DoubleArray]]]
"""Of completed paths with their log-probabilities, the order and the log-probabilities of the entities of each."""


def answer_question(
    index: GraphIndex,
    question: str,
    topics: Sequence[str],
    scorer: LearnedRelationScorer,
    config: PathConfig | None = None,
    ranking: Ranking | None = None,
) -> EntityPathAnswer:
    """Answers a question about entities of a graph.

    Args:
        index: The graph.
        question: The question.
        topics: Names of the entities that it is about, at least one.
        scorer: What scores the relations.
        config: The search's settings; ``None`` for the defaults.
        ranking: Orders the paths that the beam completes; ``None`` for their scores and what the question names.

    Returns:
        What was found; without answers when no path leads anywhere.

    Raises:
        ConfigError: There is no topic.
        QueryError: A topic is not in the graph.
    """
    if not topics:
        raise ConfigError("topics must name at least one entity, got none")
    space = EntitySpace(index, question, index.ids(topics), scorer, config if config is not None else PathConfig())
    completed, statistics = completed_paths(space)
    if not completed:
        return EntityPathAnswer((), (), (), (), statistics)
    ranked = ranking(space, completed) if ranking is not None else _by_conditions(space, completed)
    return _collected(space, *ranked, statistics)


def completed_paths(space: EntitySpace) -> tuple[list[tuple[Path, float]], SearchStatistics]:
    """The paths that the beam completes with their log-probabilities, best first, and what the search did."""
    most = space.config.max_depth
    result = beam_search(space, replace(space.config, max_depth=most + 1))
    completed = [
        (tuple(path[:-1]), score)  # without STOP
        for frontier in result.completed
        for path, score in zip(frontier.choices.tolist(), frontier.scores.tolist(), strict=True)
    ]
    depth = min(result.statistics.max_depth_reached, most)
    return sorted(completed, key=lambda pair: (-pair[1], pair[0])), replace(result.statistics, max_depth_reached=depth)


def without(ids: Ids, few: Ids) -> Ids:
    """Sorted numbers without a few others."""
    return ids[~among(ids, few)] if len(few) else ids


def among(ids: Ids, others: Ids) -> BoolArray:
    """For each number whether it is among others, which are sorted and at least one."""
    found: BoolArray = others[np.minimum(others.searchsorted(ids), len(others) - 1)] == ids
    return found


def _collected(
    space: EntitySpace, completed: list[Path], logs: list[DoubleArray], statistics: SearchStatistics
) -> EntityPathAnswer:
    """The answers of completed relation paths, best first, with the log-probabilities of the entities of each."""
    name, config = space.index.name, space.config
    sets = [space.reached(path) for path in completed]
    owner = np.repeat(np.arange(len(sets)), [len(part) for part in sets])
    entities, first, place = np.unique(np.concatenate(sets), return_index=True, return_inverse=True)
    first, scores = owner[first], merge(place.reshape(-1), np.concatenate(logs))
    lead = int(first[scores.argmax()])
    best = sets[lead][logs[lead] >= logs[lead].max() - _SAME]
    chosen = among(entities, best)
    names: dict[int, str] = {}
    for places, most in ((np.flatnonzero(chosen), MOST_ANSWERS), (np.flatnonzero(~chosen), config.output_top_k)):
        for entity in places[np.argsort(-scores[places], kind="stable")[:most]].tolist():
            names[entity] = name(entities[entity])
    order = sorted(names, key=lambda entity: (-scores[entity], names[entity]))
    traced: dict[int, EntityPath] = {}
    for number in dict.fromkeys(first[order].tolist()):
        own = [entity for entity in order if first[entity] == number]
        paths = _traced(space, completed[number], float(logs[number].max()), entities[own])
        traced |= zip(own, paths, strict=True)
    relation_paths = [
        RelationPath(
            (name(space.topics[path[0]]), *space.names(path)), float(log.max()), len(log) + space.left_out[path], path
        )
        for path, log in zip(completed, logs, strict=True)
    ]
    return EntityPathAnswer(
        answers=tuple((names[entity], min(float(scores[entity]), 0.0)) for entity in order),
        paths=tuple(traced[entity] for entity in order),
        relation_paths=(relation_paths.pop(lead), *relation_paths),
        chosen=tuple(names[entity] for entity in order if chosen[entity]),
        left_out=max(len(best) - MOST_ANSWERS, 0)
        + (space.left_out[completed[lead]] if len(best) == len(logs[lead]) else 0),
        statistics=statistics,
        space=space,
    )


def _by_conditions(space: EntitySpace, completed: Sequence[tuple[Path, float]]) -> tuple[list[Path], list[DoubleArray]]:
    """The paths by their best entity, and of each the log-probabilities of its entities."""
    # Beyond the first ones, no entity is compared with the question.
    fits = [
        space.fit(path) if place < _WEIGHED else np.zeros(len(space.reached(path)))
        for place, (path, _) in enumerate(completed)
    ]
    most = max(float(fit.max()) for fit in fits)
    logs = [score + space.scorer.conditions * (fit - most) for (_, score), fit in zip(completed, fits, strict=True)]
    order = sorted(range(len(completed)), key=lambda place: -float(logs[place].max()))
    return [completed[place][0] for place in order], [logs[place] for place in order]


def _traced(space: EntitySpace, path: Path, score: float, ends: Ids) -> list[EntityPath]:
    """One concrete path to each of several entities that a relation path reaches.

    Where several lead to an entity, the one whose entities fit the question's conditions best is taken, then the one
    through the first entities of the graph.
    """
    columns = [ends]
    for length in range(len(path) - 1, 1, -1):
        before = space.reached(path[:length])
        if len(before) == 1:
            columns.append(np.broadcast_to(before[0], len(ends)))
            continue
        distinct, place_of = np.unique(columns[-1], return_inverse=True)
        place, source = space.steps(path[: length + 1], distinct)
        words = space.words(path[:length])[source]
        fit = space.conditions.weigh(words) if space.conditions is not None else np.zeros(len(source))
        order = np.lexsort((source, -fit, place))
        source, place = source[order], place[order]
        first = source[place.searchsorted(np.arange(len(distinct)))]
        columns.append(before[first][place_of.reshape(-1)])
    rows = zip(np.broadcast_to(space.topics[path[0]], len(ends)), *columns[::-1], strict=True)
    relations = space.names(path)
    return [EntityPath(tuple(map(space.index.name, row)), relations, score) for row in rows]
