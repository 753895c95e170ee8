"""Scorers of entity paths: the probability of each next relation, and of stopping.

A scorer is asked once a step, about all states of the beam together::

    question  who starred in the films directed by the director of Alien ?
    paths     [directed_by], [starred_actors]                two states of depth 1
    offered   what the entities that each state has reached have: ^directed_by, ^written_by, …
    answer    log-probabilities of every offered relation, and of STOP, for each state
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from kg.arrays import BoolArray, FloatArray, IntArray
from kg.errors import DataError
from kg.paths.features import (
    LIKENESS,
    PAIR_FEATURES,
    QuestionView,
    RelationFeatures,
    RelationNames,
    relation_features,
)


@dataclass(frozen=True)
class RelationStep:
    """The input of a scorer: the states of one depth.

    Attributes:
        question: The question as it was asked.
        topics: Names of the entities that it is about.
        relations: Names of all relations of the graph; the way back along one begins with ``^``.
        paths: The relations that each state has followed so far; shape ``(states, depth)``.
        offered: The relations that each state can follow; shape ``(states, relations)``.
    """

    question: str
    topics: tuple[str, ...]
    relations: Sequence[str]
    paths: IntArray
    offered: BoolArray

    @property
    def depth(self) -> int:
        """Relations followed so far."""
        return int(self.paths.shape[1])


FORMAT = 1
STOP = "STOP"
"""Stands for stopping among the relations' features."""
UNTRAINED = {
    "words of the name in the question": 4.0,
    "^ words of the name in the question": 4.0,
    "letters of the name in the question": 2.0,
    "^ letters of the name in the question": 2.0,
    "again": -5.0,
    "back": -5.0,
    "conditions": 5.0,
}
"""The likeness by which relations are told without training; every relation without any is as likely as the next."""
UNTRAINED_STOPS = {"1": {STOP: 3.0}, "2": {STOP: 4.0}, "3": {STOP: 5.0}}
"""Without training, a path rather stops than goes on along a relation that the question does not name."""


@dataclass(frozen=True)
class LearnedRelationScorer:
    """A log-linear model of the next relation; fitted by :mod:`optimize.relations.scorer`.

    A step's score is the sum of the weights of every feature of the question there with every feature of the relation,
    and of how like each other the two are. Relations that training did not see are known by the words of their names.

    Attributes:
        weights: For each feature of a question at a step, weights of the features of relations.
        likeness: Weights of :data:`kg.paths.features.PAIR_FEATURES`, by name; 0 where there is none.
        may_return: Whether a path may come back to a topic entity, which may then be the answer ("the spouse of her
            mother's child").
        trained_on: What it was fitted on, in words; empty when it was not.
    """

    weights: Mapping[str, Mapping[str, float]]
    likeness: Mapping[str, float]
    may_return: bool = False
    trained_on: str = ""

    @classmethod
    def untrained(cls, *, may_return: bool = False) -> LearnedRelationScorer:
        """Weights fitted to nothing: relations by the words that their names share with the question."""
        return cls(UNTRAINED_STOPS, UNTRAINED, may_return)

    @cached_property
    def sha256(self) -> str:
        """Hash of the written weights."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def log_probabilities(self, step: RelationStep) -> FloatArray:
        """Of every relation, and in the last column of stopping; shape ``(states, relations + 1)``.

        The probabilities of a row sum to 1; what is not offered there has ``-inf``. At depth 0 stopping is not offered;
        from depth 1 on it always is.
        """
        scores = self._bound(tuple(step.relations)).scores(step, RelationFeatures.of(step.question, step.topics))
        scores[:, :-1][~step.offered] = -np.inf
        if step.depth == 0:
            scores[:, -1] = -np.inf
        return masked_log_softmax(scores)

    @property
    def conditions(self) -> float:
        """The weight of the share of a question's open words that the facts of an entity have."""
        return self.likeness.get("conditions", UNTRAINED["conditions"])

    def open_words(self, question: str, topics: Sequence[str]) -> list[str]:
        """The words of a question that may say something of single entities: numbers, and words without weights."""
        said = QuestionView.of(question, topics).words if self.conditions else ()
        return [word for word in said if word[0].isdigit() or not {f"0<{word}", f"0>{word}"} & self.weights.keys()]

    @cached_property
    def _bound(self) -> Callable[[tuple[str, ...]], _Bound]:
        """The weights as they bear on one graph's relations; kept for the graph that was asked about last."""
        return lru_cache(maxsize=1)(partial(_Bound, _Rows(self.weights), self.likeness))

    def to_json(self) -> str:
        """The weights as JSON, a line a feature; the same bytes for the same weights."""
        head = {"format": FORMAT, "trained_on": self.trained_on, "rules": {"may_return": self.may_return}}
        head["likeness"] = dict(sorted(self.likeness.items()))
        lines = [f"{_dumped(name)}:{_dumped(dict(sorted(row.items())))}" for name, row in sorted(self.weights.items())]
        parts = [f"{_dumped(name)}: {_dumped(value)}" for name, value in head.items()]
        return "{\n" + ",\n".join([*parts, '"weights": {\n' + ",\n".join(lines) + "\n}"]) + "\n}\n"

    @classmethod
    def from_json(cls, text: str) -> LearnedRelationScorer:
        """Reads what :meth:`to_json` wrote.

        Raises:
            DataError: It is not a relation scorer, or one of another format.
        """
        try:
            record = json.loads(text)
            if record.pop("format") != FORMAT:
                raise DataError(f"the relation scorer's format must be {FORMAT}")
            may_return = bool(record.pop("rules")["may_return"])
            scorer = cls(may_return=may_return, **record)
            rows = [*scorer.weights.values(), scorer.likeness]
            if not all(math.isfinite(weight) for row in rows for weight in row.values()):
                raise DataError("a relation scorer's weights must be finite")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"this is not a relation scorer: {error!r}") from error
        return scorer


class _Rows:
    """The weights as compressed rows of arrays: one row for each feature of questions."""

    def __init__(self, weights: Mapping[str, Mapping[str, float]]) -> None:
        self.row = {name: number for number, name in enumerate(weights)}
        self.column: dict[str, int] = {}
        for weighed in weights.values():
            for name in weighed:
                self.column.setdefault(name, len(self.column))
        sizes = [len(weighed) for weighed in weights.values()]
        self.starts = np.cumsum([0, *sizes], dtype=np.int64)
        entries = [(self.column[name], weight) for weighed in weights.values() for name, weight in weighed.items()]
        self.columns = np.array([column for column, _ in entries], dtype=np.int64)
        self.values = np.array([weight for _, weight in entries], dtype=np.float32)

    def sums(self, features: Sequence[str]) -> FloatArray:
        """The summed weights of some features of a question; shape ``(features of relations,)``."""
        rows = np.array([self.row[name] for name in features if name in self.row], dtype=np.int64)
        begin = self.starts[rows]
        counts = self.starts[rows + 1] - begin
        ends = counts.cumsum()
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begin - (ends - counts), counts)
        result: FloatArray = np.bincount(
            self.columns[places], weights=self.values[places], minlength=len(self.column)
        ).astype(np.float32)
        return result


class _Bound:
    """The weights as they bear on the relations of one graph."""

    def __init__(self, rows: _Rows, likeness: Mapping[str, float], relations: tuple[str, ...]) -> None:
        self._rows = rows
        self._names = RelationNames(relations)
        weights = np.array([likeness.get(name, 0.0) for name in PAIR_FEATURES], dtype=np.float32)
        count = len(LIKENESS)
        self._like = np.where(self._names.is_inverse[:, None], weights[count : 2 * count], weights[:count])
        self._again, self._back = weights[-2:]
        self._inverse = np.array(inverses(relations), dtype=np.int64)
        last = len(rows.column)  # a column of zeros, for what training did not see
        known = [[rows.column.get(f, last) for f in relation_features(name)] for name in relations]
        known.append([rows.column.get(STOP, last)])
        self._places = np.array([column for row in known for column in row], dtype=np.int64)
        self._starts = np.cumsum([0, *(len(row) for row in known[:-1])], dtype=np.int64)

    def scores(self, step: RelationStep, question: RelationFeatures) -> FloatArray:
        """Unnormalised; shape ``(states, relations + 1)``."""
        depth = step.depth
        common = self._rows.sums(question.at_depth(depth))
        states = np.zeros((len(step.paths), len(common) + 1), dtype=np.float32)
        for place, path in enumerate(step.paths.tolist()):
            states[place, :-1] = common + self._rows.sums(question.after([step.relations[number] for number in path]))
        scores: FloatArray = np.add.reduceat(states[:, self._places], self._starts, axis=1)
        scores[:, :-1] += (self._names.likeness(question, depth) * self._like).sum(axis=1)
        every = np.arange(len(scores))
        for column in range(depth):
            scores[every, step.paths[:, column]] += self._again
        if depth:
            scores[every, self._inverse[step.paths[:, -1]]] += self._back
        return scores


def inverses(relations: Sequence[str]) -> list[int]:
    """The place of each relation's way back; its own, where the relations do not have it."""
    place = {name: number for number, name in enumerate(relations)}
    return [
        place.get(name[1:] if name.startswith("^") else f"^{name}", number) for number, name in enumerate(relations)
    ]


def _dumped(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def masked_log_softmax(scores: FloatArray) -> FloatArray:
    """Log-probabilities along the last axis; a row of ``-inf`` alone stays as it is."""
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    total = np.exp(scores - top).sum(axis=-1, keepdims=True)
    result: FloatArray = np.where(np.isfinite(scores), scores - top - np.log(np.where(total > 0, total, 1)), -np.inf)
    return result.astype(np.float32)
