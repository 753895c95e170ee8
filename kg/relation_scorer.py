"""Which relation a question follows next, and when it has arrived: the scorers of entity paths.

A scorer is asked once a step, about all states of the beam together::

    question  who starred in the films directed by the director of Alien ?
    paths     [directed_by], [starred_actors]                two states of depth 1
    offered   what the entities that each state has reached have: ^directed_by, ^written_by, …
    answer    log-probabilities of every offered relation, and of STOP, for each state
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kg.errors import DataError
from kg.relation_features import QuestionView, question_features, relation_words, step_features

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class TopicRules:
    """What the questions of a collection allow of the entity that they are about.

    Attributes:
        may_return: Whether a path may come back to it ("the spouse of her mother's child").
        may_answer: Whether it may be the answer; by default it never is.
    """

    may_return: bool = False
    may_answer: bool = False


@dataclass(frozen=True)
class RelationStep:
    """What a scorer is asked: how the states of one depth go on.

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


class RelationScorer(Protocol):
    """What scores the steps of entity paths."""

    @property
    def rules(self) -> TopicRules:
        """What is allowed of topic entities."""
        ...

    def log_probabilities(self, step: RelationStep) -> FloatArray:
        """Of every relation, and in the last column of stopping; shape ``(states, relations + 1)``.

        Each row is a distribution over what is offered there, everything else ``-inf``. At depth 0 stopping is not
        offered; from depth 1 on it always is.
        """
        ...


FORMAT = 1
STOP = "STOP"
"""Stands for stopping among the relations' features."""


@dataclass(frozen=True)
class LearnedRelationScorer:
    """A log-linear model of the next relation; fitted by :mod:`optimize.relation_training`.

    Attributes:
        weights: For each feature of a question at a step, weights of the features of relations (their names, their
            names' words, and stopping).
        rules: What is allowed of topic entities.
        trained_on: What it was fitted on, in words.
    """

    weights: Mapping[str, Mapping[str, float]]
    rules: TopicRules = TopicRules()
    trained_on: str = ""

    @cached_property
    def _columns(self) -> dict[str, int]:
        names = sorted({name for row in self.weights.values() for name in row} | {STOP})
        return {name: column for column, name in enumerate(names)}

    @cached_property
    def _matrix(self) -> tuple[dict[str, int], FloatArray]:
        matrix = np.zeros((len(self.weights), len(self._columns)), dtype=np.float32)
        for row, weights in enumerate(self.weights.values()):
            for name, weight in weights.items():
                matrix[row, self._columns[name]] = weight
        return {name: row for row, name in enumerate(self.weights)}, matrix

    @cached_property
    def sha256(self) -> str:
        """Hash of the written weights."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def log_probabilities(self, step: RelationStep) -> FloatArray:
        """See :class:`RelationScorer`."""
        rows, matrix = self._matrix
        base = question_features(QuestionView.of(step.question, step.topics))
        states = np.zeros((len(step.paths), matrix.shape[1]), dtype=np.float32)
        for place, path in enumerate(step.paths):
            features = step_features(base, [step.relations[relation] for relation in path])
            states[place] = matrix[[rows[feature] for feature in features if feature in rows]].sum(axis=0)
        scores = self._by_relation(states, tuple(step.relations))
        scores[:, :-1][~step.offered] = -np.inf
        if step.depth == 0:
            scores[:, -1] = -np.inf
        return masked_log_softmax(scores)

    def _by_relation(self, states: FloatArray, relations: tuple[str, ...]) -> FloatArray:
        """The summed scores of each relation's features, and of stopping in the last column."""
        if relations not in self._bound:
            columns = self._columns
            known = [[columns[f] for f in relation_features(name) if f in columns] for name in (*relations, STOP)]
            self._bound.clear()  # one graph at a time
            self._bound[relations] = (
                np.array([column for row in known for column in [*row, len(columns)]], dtype=np.int64),
                np.cumsum([0, *(len(row) + 1 for row in known[:-1])]),
            )
        places, starts = self._bound[relations]
        padded = np.concatenate([states, np.zeros((len(states), 1), dtype=np.float32)], axis=1)
        scores: FloatArray = np.add.reduceat(padded[:, places], starts, axis=1)
        return scores

    @cached_property
    def _bound(self) -> dict[tuple[str, ...], tuple[IntArray, IntArray]]:
        return {}

    def to_json(self) -> str:
        """The weights as JSON, a line a feature; the same bytes for the same weights."""
        lines = [
            f"{json.dumps(name)}: {json.dumps(dict(sorted(row.items())))}" for name, row in sorted(self.weights.items())
        ]
        head = {"format": FORMAT, "trained_on": self.trained_on, "rules": asdict(self.rules)}
        return (
            "{\n"
            + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in head.items())
            + ',\n"weights": {\n'
            + ",\n".join(lines)
            + "\n}\n}\n"
        )

    @classmethod
    def from_json(cls, text: str) -> LearnedRelationScorer:
        """Reads what :meth:`to_json` wrote.

        Raises:
            DataError: It is not a relation scorer, or one of another format.
        """
        try:
            record = json.loads(text)
            if record["format"] != FORMAT:
                raise DataError(f"the relation scorer's format must be {FORMAT}, got {record['format']}")
            return cls(record["weights"], TopicRules(**record["rules"]), record["trained_on"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"this is not a relation scorer: {error!r}") from error


def relation_features(name: str) -> list[str]:
    """What is known of a relation: its name, the words of the name with its direction; of stopping, that alone."""
    if name == STOP:
        return [STOP]
    mark = "^" if name.startswith("^") else ""
    return [f"={name}", *(f"{mark}{word}" for word in dict.fromkeys(relation_words(name)))]


def masked_log_softmax(scores: FloatArray) -> FloatArray:
    """Log-probabilities along the last axis; a row of ``-inf`` alone stays as it is."""
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    total = np.exp(scores - top).sum(axis=-1, keepdims=True)
    result: FloatArray = np.where(np.isfinite(scores), scores - top - np.log(np.where(total > 0, total, 1)), -np.inf)
    return result.astype(np.float32)
