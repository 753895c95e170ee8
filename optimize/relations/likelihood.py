"""Maximum likelihood of a log-linear relation scorer: its steps as a sparse matrix, its weights by L-BFGS.

A *choice* is one step of a path: the alternatives are the relations offered there, and stopping. Every alternative is a
row of the matrix, with a column for each pair of a question's feature and a relation's feature that a right alternative
has shown together, and a few columns for the similarity of the relation's name and the question.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from kg.arrays import DoubleArray, FloatArray, IntArray
from kg.paths import (
    LIKENESS,
    PAIR_FEATURES,
    STOP,
    RelationFeatures,
    RelationNames,
    inverses,
    relation_features,
)


@dataclass(frozen=True)
class RelationChoice:
    """One step to learn from.

    Attributes:
        question: The question.
        path: The relations before it, by number among all relations.
        offered: The relations that may follow, by number.
        target: The weight of each right relation, by number; stopping has the number after all relations.
    """

    question: RelationFeatures
    path: tuple[int, ...]
    offered: IntArray
    target: Mapping[int, float]


class Likelihood:
    """The likelihood of choices as a function of a log-linear scorer's weights.

    Args:
        relations: The names of all relations, of all graphs together.
        choices: At least one.
    """

    def __init__(self, relations: Sequence[str], choices: Sequence[RelationChoice]) -> None:
        self._relations = tuple(relations)
        self._names = RelationNames(relations)
        self._inverse = np.array(inverses(self._relations), dtype=np.int64)
        self._columns: dict[str, int] = {}
        features = [*(relation_features(name) for name in relations), [STOP]]
        self._columns_of = [
            np.array([self._columns.setdefault(name, len(self._columns)) for name in names], dtype=np.int64)
            for names in features
        ]
        self._rows: dict[str, int] = {}
        active = [self._active(choice) for choice in choices]
        self._parameters: dict[tuple[int, int], int] = {}
        for choice, rows in zip(choices, active, strict=True):
            self._support(choice, rows)
        blocks = self._blocks(choices, active)
        likes = self._likenesses(choices)
        self._matrix = sparse.hstack([blocks, sparse.csr_matrix(likes)], format="csr", dtype=np.float32)
        alternatives = [_alternatives(choice, len(relations)).tolist() for choice in choices]
        sizes = [len(offered) for offered in alternatives]
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._choice = np.repeat(np.arange(len(choices)), sizes)
        self._target = np.array(
            [
                choice.target.get(alternative, 0.0)
                for choice, offered in zip(choices, alternatives, strict=True)
                for alternative in offered
            ]
        )

    def maximise(self, decay: float, iterations: int) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
        """Returns the weights of pairs and of similarities, as :class:`kg.paths.LearnedRelationScorer` takes them.

        They maximise the likelihood less ``decay`` times the sum of their squares.
        """
        mass = np.add.reduceat(self._target, self._starts)[self._choice]
        back = self._matrix.T.tocsr()

        def loss(weights: DoubleArray) -> tuple[float, DoubleArray]:
            scores = self._matrix @ weights
            scores -= np.maximum.reduceat(scores, self._starts)[self._choice]
            logs = scores - np.log(np.add.reduceat(np.exp(scores), self._starts))[self._choice]
            error = mass * np.exp(logs) - self._target
            value = -float(self._target @ logs) + decay * float(weights @ weights)
            return value, back @ error + 2 * decay * weights

        start = np.zeros(self._matrix.shape[1])
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
        return self._written(found.x)

    def _active(self, choice: RelationChoice) -> IntArray:
        names = choice.question.at_depth(len(choice.path))
        names += choice.question.after([self._relations[relation] for relation in choice.path])
        return np.array([self._rows.setdefault(name, len(self._rows)) for name in names], dtype=np.int64)

    def _support(self, choice: RelationChoice, rows: IntArray) -> None:
        """Makes a parameter of every pair that a right alternative shows."""
        right = [alternative for alternative, weight in choice.target.items() if weight > 0]
        columns = np.unique(np.concatenate([self._columns_of[alternative] for alternative in right]))
        for column in columns.tolist():
            for row in rows.tolist():
                self._parameters.setdefault((row, column), len(self._parameters))

    def _blocks(self, choices: Sequence[RelationChoice], active: Sequence[IntArray]) -> sparse.csr_matrix:
        """Returns the pairs of features that each alternative shows; shape ``(alternatives, parameters)``."""
        by_row: list[dict[int, int]] = [{} for _ in self._rows]
        for (row, column), parameter in self._parameters.items():
            by_row[row][column] = parameter
        columns_of = [columns.tolist() for columns in self._columns_of]
        indices = array("i")
        ends = [0]
        for choice, rows in zip(choices, active, strict=True):
            by_column: dict[int, list[int]] = {}
            for row in rows.tolist():
                for column, parameter in by_row[row].items():
                    by_column.setdefault(column, []).append(parameter)
            for alternative in _alternatives(choice, len(self._relations)).tolist():
                for column in columns_of[alternative]:
                    indices.extend(by_column.get(column, ()))
                ends.append(len(indices))
        shape = (len(ends) - 1, len(self._parameters))
        return sparse.csr_matrix((np.ones(len(indices), dtype=np.float32), np.array(indices), np.array(ends)), shape)

    def _likenesses(self, choices: Sequence[RelationChoice]) -> FloatArray:
        """Returns the similarity of each alternative to its question; shape ``(alternatives, pair features)``."""
        known: dict[int, FloatArray] = {}
        question: RelationFeatures | None = None
        found = []
        for choice in choices:
            if choice.question is not question:  # the steps of one question come together
                question = choice.question
                known.clear()
            depth = len(choice.path)
            if depth not in known:
                known[depth] = self._names.likeness(question, depth)
            alternatives = _alternatives(choice, len(self._relations))
            rows = np.zeros((len(alternatives), len(PAIR_FEATURES)), dtype=np.float32)
            offered = len(choice.offered)
            inverse = self._names.is_inverse[choice.offered][:, None]
            like = known[depth][choice.offered]
            count = len(LIKENESS)
            rows[:offered, :count] = np.where(inverse, 0, like)
            rows[:offered, count : 2 * count] = np.where(inverse, like, 0)
            rows[:offered, -2] = sum(choice.offered == relation for relation in choice.path)
            if depth:
                rows[:offered, -1] = choice.offered == self._inverse[choice.path[-1]]
            found.append(rows)
        return np.concatenate(found)

    def _written(self, weights: DoubleArray) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
        columns, rows = list(self._columns), list(self._rows)
        values = [round(float(weight), 3) for weight in weights]
        written: dict[str, dict[str, float]] = {}
        for (row, column), parameter in self._parameters.items():
            if values[parameter]:
                written.setdefault(rows[row], {})[columns[column]] = values[parameter]
        return written, dict(zip(PAIR_FEATURES, values[-len(PAIR_FEATURES) :], strict=True))


def _alternatives(choice: RelationChoice, stop: int) -> IntArray:
    """The offered relations, and stopping (the number after all relations) if a relation was followed before."""
    return np.append(choice.offered, stop) if choice.path else choice.offered
