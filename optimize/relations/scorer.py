"""The fit of the scorer of entity paths on questions with answers, with or without gold paths.

    >>> examples = [RelationExample("who directed Alien ?", ("Alien",), ("Ridley Scott",))]
    >>> scorer = fit_relation_scorer(index, examples, RelationTrainingConfig(), seed=0)

If a question has no gold path, paths that reach the answers are searched: among all paths for some questions, and among
the proposals of a model that was fitted on these for the others. Several remaining paths are weighted by expectation
maximisation. So a path that explains one question by accident loses against one that explains many.

The weights are those of maximum likelihood, by L-BFGS. A *choice* is one step of a path: the alternatives are the
relations offered there, and stopping. Every alternative is a row of a sparse matrix, with a column for each pair of a
question's feature and a relation's feature that a right alternative has shown together, and a few columns for the
similarity of the relation's name and the question.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from kg.arrays import DoubleArray, FloatArray, IntArray
from kg.errors import DataError
from kg.graphs import GraphIndex
from kg.paths import (
    LIKENESS,
    PAIR_FEATURES,
    STOP,
    LearnedRelationScorer,
    PathConfig,
    RelationFeatures,
    RelationNames,
    RelationStep,
    answer_question,
    inverses,
    relation_features,
)
from optimize.relations.paths import (
    LocatedExample,
    Path,
    RelationExample,
    known_ids,
    learn_return,
    likeness_of,
    locate,
    propose,
)

__all__ = ["RelationExample", "RelationTrainingConfig", "fit_relation_scorer"]


_WEIGHED, _WEIGHTS = 200, (5.0, 0.0, 2.0, 10.0)
"""Questions by which the weight of conditions is chosen, and the weights; the first one wins a tie."""


@dataclass(frozen=True)
class RelationTrainingConfig:
    """Settings of the fit.

    Attributes:
        max_hops: Relations of a path at the most, where paths must be found; at least 1.
        rounds: Of expectation maximisation, where paths must be found; at least 1.
        iterations: Of the optimizer in each round; at least 1.
        decay: L2 penalty, at least 0.
        searched: Questions without a path for which all paths are searched; at least 1.
    """

    max_hops: int = 3
    rounds: int = 3
    iterations: int = 60
    decay: float = 0.03
    searched: int = 400


def fit_relation_scorer(
    index: GraphIndex,
    examples: Sequence[RelationExample],
    config: RelationTrainingConfig | None = None,
    seed: int = 0,
) -> LearnedRelationScorer:
    """Returns a scorer fitted on examples; the same examples and seed give the same weights.

    Args:
        index: The graph.
        examples: The questions.
        config: Settings.
        seed: Of the questions for which all paths are searched.

    Raises:
        DataError: There is no example from whose topics a path leads to the answers, or one has a path whose relations
            are not in its graph.
    """
    config = config if config is not None else RelationTrainingConfig()
    blank = learn_return(index, examples, config.max_hops, seed)
    order = np.random.default_rng(seed).permutation(len(examples))
    without_path = [number for number in order if examples[number].path is None]
    later = set(without_path[config.searched :])
    located = {n: locate(index, one, blank, config.max_hops) for n, one in enumerate(examples) if n not in later}
    usable = [one for one in located.values() if one.paths]
    scorer = _fit(index, usable, blank, config, f"{len(examples)} questions, seed {seed}", None)
    if not without_path:
        return _with_conditions(index, [examples[number] for number in order], scorer, config.max_hops)
    for number in without_path:
        example = examples[number]
        start = located.get(number) or LocatedExample.of(index, example)
        found = propose(start, scorer, config.max_hops)
        located[number] = found if found.paths else locate(index, example, blank, config.max_hops)
    usable = [located[number] for number in sorted(located) if located[number].paths]
    for _ in range(1, config.rounds):
        scorer = _fit(index, usable, blank, config, f"{len(usable)} of {len(examples)} questions, seed {seed}", scorer)
    return _with_conditions(index, [examples[number] for number in order], scorer, config.max_hops)


def _with_conditions(
    index: GraphIndex, examples: Sequence[RelationExample], scorer: LearnedRelationScorer, hops: int
) -> LearnedRelationScorer:
    """The scorer with the weight of conditions under which it answers examples best; the first on a tie."""
    config = PathConfig(max_depth=hops)
    asked: list[tuple[RelationExample, list[str]]] = []
    for example in examples:
        topics = [topic for topic in example.topics if index.find(topic) is not None]
        if topics and len(asked) < _WEIGHED and scorer.open_words(example.question, topics):
            asked.append((example, topics))

    def likeness(trial: LearnedRelationScorer) -> float:
        return sum(
            likeness_of(
                known_ids(index, answer_question(index, example.question, topics, trial, config).chosen),
                known_ids(index, example.answers),
            )
            for example, topics in asked
        )

    trials = [replace(scorer, likeness={**scorer.likeness, "conditions": weight}) for weight in _WEIGHTS]
    return max(trials, key=likeness)


def _fit(
    index: GraphIndex,
    located: Sequence[LocatedExample],
    blank: LearnedRelationScorer,
    config: RelationTrainingConfig,
    trained_on: str,
    scorer: LearnedRelationScorer | None,
) -> LearnedRelationScorer:
    """Returns a scorer fitted on examples, whose paths another scorer weights."""
    if not located:
        raise DataError("no question has a path from its topics to its answers")
    choices = [choice for example in located for choice in _choices(example, blank, scorer)]
    weights, likeness = Likelihood(index.relations, choices).maximise(config.decay, config.iterations)
    return LearnedRelationScorer(weights, likeness, blank.may_return, trained_on)


def _choices(
    one: LocatedExample, blank: LearnedRelationScorer, scorer: LearnedRelationScorer | None
) -> list[RelationChoice]:
    """Returns the steps of an example's paths, each path with its share of the example."""
    question = RelationFeatures.of(one.example.question, one.example.topics)
    stop, space = len(one.index.relations), one.space(blank)
    targets: dict[Path, dict[int, float]] = {}
    for path, share in zip(one.paths, _shares(one, scorer), strict=True):
        for length in range(1, len(path) + 1):
            target = targets.setdefault(path[:length], {})
            choice = path[length] if length < len(path) else stop
            target[choice] = target.get(choice, 0.0) + float(share)
    return [
        RelationChoice(
            question,
            prefix[1:],
            np.flatnonzero(one.index.offered_at(space.slots(prefix))),
            target,
        )
        for prefix, target in targets.items()
    ]


def _shares(one: LocatedExample, scorer: LearnedRelationScorer | None) -> FloatArray:
    """Returns the probability of each path, given that one of them is right; uniform without a scorer."""
    if scorer is None or len(one.paths) == 1:
        return np.full(len(one.paths), 1 / len(one.paths), dtype=np.float32)
    scores = np.array([_log_probability(one, path, scorer) for path in one.paths])
    weights = np.exp(scores - scores.max())
    shares: FloatArray = (weights / weights.sum()).astype(np.float32)
    return shares


def _log_probability(one: LocatedExample, path: Path, scorer: LearnedRelationScorer) -> float:
    """Of a relation path with its end."""
    total, space = 0.0, one.space(scorer)
    for length in range(1, len(path) + 1):
        offered = one.index.offered_at(space.slots(path[:length]))[None]
        followed = np.array(path[1:length], dtype=np.int64)[None]
        step = RelationStep(one.example.question, one.example.topics, one.index.relations, followed, offered)
        choice = path[length] if length < len(path) else len(one.index.relations)
        total += float(scorer.log_probabilities(step)[0, choice])
    return total


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
