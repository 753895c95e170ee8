"""Fitting the scorer of entity paths on questions with their answers, with or without gold paths.

    >>> examples = [RelationExample("who directed Alien ?", ("Alien",), ("Ridley Scott",))]
    >>> scorer = fit_relation_scorer(index, examples, RelationTrainingConfig(), seed=0)

Where no path is given, every relation path from a topic that reaches the answers is taken for one that may be right,
and the model itself decides between them as it learns (expectation maximisation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from kg.errors import ConfigError, DataError
from kg.index import GraphIndex, Ids
from kg.relation_features import QuestionView, question_features, step_features
from kg.relation_scorer import (
    STOP,
    BoolArray,
    FloatArray,
    LearnedRelationScorer,
    RelationStep,
    TopicRules,
    relation_features,
)


@dataclass(frozen=True)
class RelationExample:
    """A question to learn from.

    Attributes:
        question: As it was asked.
        topics: Names of the entities that it is about.
        answers: Names of all entities that answer it.
        path: The relations that lead from the first topic to the answers, where that is known.
    """

    question: str
    topics: tuple[str, ...]
    answers: tuple[str, ...]
    path: tuple[str, ...] | None = None


@dataclass(frozen=True)
class RelationTrainingConfig:
    """Settings of the fit.

    Attributes:
        max_hops: Relations of a path at the most, where paths must be found; at least 1.
        rounds: Of expectation maximisation, where paths must be found; at least 1.
        iterations: Of the optimizer in each round; at least 1.
        decay: L2 penalty, at least 0.
        searched: Examples whose paths are found by going through all; those of the others are first sought among what
            a model fitted on these proposes.
    """

    max_hops: int = 3
    rounds: int = 2
    iterations: int = 60
    decay: float = 1e-3
    searched: int = 500

    def __post_init__(self) -> None:
        for name in ("max_hops", "rounds", "iterations", "searched"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.decay < 0:
            raise ConfigError(f"decay must be at least 0, got {self.decay}")


Paths = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Located:
    """An example in the graph: its topics, and the relation paths (topic's place first) that may be right."""

    example: RelationExample
    topics: Ids
    paths: Paths


def fit_relation_scorer(
    index: GraphIndex, examples: Sequence[RelationExample], config: RelationTrainingConfig | None = None, seed: int = 0
) -> LearnedRelationScorer:
    """A scorer fitted on examples; the same examples and seed give the same weights.

    Raises:
        DataError: There is no example from whose topics a path leads to the answers.
    """
    config = config if config is not None else RelationTrainingConfig()
    rules = learned_rules(index, examples, config, seed)
    located = [_located(index, example, rules, config.max_hops) for example in examples]
    located = [one for one in located if one.paths]
    if not located:
        raise DataError("no example has a path from its topics to its answers")
    told = f"{len(located)} of {len(examples)} questions, seed {seed}"
    weights: list[FloatArray] = [np.full(len(one.paths), 1 / len(one.paths), dtype=np.float32) for one in located]
    scorer = LearnedRelationScorer({}, rules, told)
    for round_number in range(config.rounds):
        scorer = _fitted(index, located, weights, config, rules, told)
        if all(len(one.paths) == 1 for one in located):
            break
        if round_number + 1 < config.rounds:
            weights = [_posterior(index, one, scorer) for one in located]
    return scorer


def learned_rules(
    index: GraphIndex, examples: Sequence[RelationExample], config: RelationTrainingConfig, seed: int
) -> TopicRules:
    """What the examples show about topic entities: whether their paths return to them, and whether they are answers."""
    rng = np.random.default_rng(seed)
    sample = [examples[number] for number in rng.permutation(len(examples))[:100]]
    may_answer = sum(bool(set(one.topics) & set(one.answers)) for one in examples) >= 0.01 * len(examples)
    exact = {True: 0, False: 0}
    for may_return in exact:
        rules = TopicRules(may_return, may_answer and may_return)
        exact[may_return] = sum(_is_exact(index, one, rules, config.max_hops) for one in sample)
    may_return = exact[True] > exact[False]
    return TopicRules(may_return, may_answer and may_return)


def _is_exact(index: GraphIndex, example: RelationExample, rules: TopicRules, hops: int) -> bool:
    if example.path is None:
        return bool(exact_paths(index, example, rules, hops))
    topics, answers = _ids(index, example.topics), _ids(index, example.answers)
    if not len(topics):
        return False
    reached = topics[:1] if len(topics) == 1 else _ids(index, example.topics[:1])
    for name in example.path:
        reached = index.follow(reached, index.relation(name))
        if not rules.may_return:
            reached = np.setdiff1d(reached, topics)
    if not rules.may_answer:
        reached = np.setdiff1d(reached, topics)
    return bool(np.array_equal(reached, answers))


def _ids(index: GraphIndex, names: Sequence[str]) -> Ids:
    found = (index.find(name) for name in names)
    return np.unique(np.array([number for number in found if number is not None], dtype=np.int32))


def _located(index: GraphIndex, example: RelationExample, rules: TopicRules, hops: int) -> _Located:
    topics = _ids(index, example.topics)
    if example.path is not None:
        first = index.find(example.topics[0])
        if first is None:
            return _Located(example, topics, ())
        place = int(np.searchsorted(topics, first))
        return _Located(example, topics, ((place, *(index.relation(name) for name in example.path)),))
    return _Located(example, topics, exact_paths(index, example, rules, hops))


def exact_paths(index: GraphIndex, example: RelationExample, rules: TopicRules, hops: int) -> Paths:
    """The shortest relation paths that reach exactly the answers."""
    topics, answers = _ids(index, example.topics), _ids(index, example.answers)
    if not len(topics) or not len(answers):
        return ()
    allowed = answers if rules.may_answer else np.union1d(answers, topics)
    level: dict[tuple[int, ...], Ids] = {(n,): topics[n : n + 1] for n in range(len(topics))}
    for depth in range(1, hops + 1):
        found: list[tuple[int, ...]] = []
        following: dict[tuple[int, ...], Ids] = {}
        for path, reached in level.items():
            for relation in index.relations_of(reached):
                then = (*path, int(relation))
                if len(reached) > _PROBE and depth == hops:
                    probe = index.follow(reached[:_PROBE], int(relation))
                    if not np.isin(probe, allowed).all():
                        continue
                ends = index.follow(reached, int(relation))
                if not rules.may_return:
                    ends = np.setdiff1d(ends, topics, assume_unique=True)
                final = ends if rules.may_answer else np.setdiff1d(ends, topics, assume_unique=True)
                if np.array_equal(final, answers):
                    found.append(then)
                if depth < hops:
                    following[then] = ends
        if found:
            return tuple(found)
        level = following
    return ()


_PROBE = 4


def _posterior(index: GraphIndex, one: _Located, scorer: LearnedRelationScorer) -> FloatArray:
    if len(one.paths) == 1:
        return np.ones(1, dtype=np.float32)
    scores = np.array([path_log_probability(index, one, path, scorer) for path in one.paths])
    weights = np.exp(scores - scores.max())
    shares: FloatArray = (weights / weights.sum()).astype(np.float32)
    return shares


def path_log_probability(
    index: GraphIndex, one: _Located, path: tuple[int, ...], scorer: LearnedRelationScorer
) -> float:
    """Of a whole relation path with its STOP."""
    total = 0.0
    for depth in range(len(path)):
        reached = _reach(index, one.topics, path[: depth + 1], scorer.rules)
        step = RelationStep(
            one.example.question,
            one.example.topics,
            index.relations,
            np.array([path[1 : depth + 1]], dtype=np.int64).reshape(1, depth),
            index.offered(reached)[None],
        )
        choice = path[depth + 1] if depth + 1 < len(path) else len(index.relations)
        total += float(scorer.log_probabilities(step)[0, choice])
    return total


def _reach(index: GraphIndex, topics: Ids, path: tuple[int, ...], rules: TopicRules) -> Ids:
    reached = topics[path[0] : path[0] + 1]
    for relation in path[1:]:
        reached = index.follow(reached, relation)
        if not rules.may_return:
            reached = np.setdiff1d(reached, topics, assume_unique=True)
    return reached


def _fitted(
    index: GraphIndex,
    located: Sequence[_Located],
    weights: Sequence[FloatArray],
    config: RelationTrainingConfig,
    rules: TopicRules,
    told: str,
) -> LearnedRelationScorer:
    """Maximum likelihood of the steps of the paths, each example weighing one."""
    stop = len(index.relations)
    features: dict[str, int] = {}
    entries: list[int] = []
    starts = [0]
    offered: list[BoolArray] = []
    targets: list[FloatArray] = []
    for one, shares in zip(located, weights, strict=True):
        base = question_features(QuestionView.of(one.example.question, one.example.topics))
        steps: dict[tuple[int, ...], FloatArray] = {}
        for path, share in zip(one.paths, shares, strict=True):
            for depth in range(1, len(path) + 1):
                target = steps.setdefault(path[:depth], np.zeros(stop + 1, dtype=np.float32))
                target[path[depth] if depth < len(path) else stop] += share
        for prefix, target in steps.items():
            names = [index.relations[relation] for relation in prefix[1:]]
            entries += [features.setdefault(name, len(features)) for name in step_features(base, names)]
            starts.append(len(entries))
            offered.append(np.append(index.offered(_reach(index, one.topics, prefix, rules)), len(prefix) > 1))
            targets.append(target)
    rows = sparse.csr_matrix(
        (np.ones(len(entries), dtype=np.float32), np.array(entries), np.array(starts)), (len(targets), len(features))
    )
    columns: dict[str, int] = {}
    places = [
        (row, columns.setdefault(name, len(columns)))
        for row, relation in enumerate((*index.relations, STOP))
        for name in relation_features(relation)
    ]
    names_matrix = sparse.csr_matrix(
        (np.ones(len(places), dtype=np.float32), tuple(np.array(places).T)), (stop + 1, len(columns))
    )
    matrix = _maximised(rows, names_matrix, np.stack(offered), np.stack(targets), config)
    written = {
        feature: {
            name: round(float(matrix[row, column]), 3)
            for name, column in columns.items()
            if abs(matrix[row, column]) >= 5e-3
        }
        for feature, row in features.items()
    }
    return LearnedRelationScorer({feature: row for feature, row in written.items() if row}, rules, told)


def _maximised(
    rows: sparse.csr_matrix,
    names: sparse.csr_matrix,
    offered: BoolArray,
    targets: FloatArray,
    config: RelationTrainingConfig,
) -> FloatArray:
    """The weights: L-BFGS on the penalised log-likelihood."""
    shape = (rows.shape[1], names.shape[1])
    mass = targets.sum(axis=1, keepdims=True)
    back = rows.T.tocsr()

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(shape)
        scores = (names @ (rows @ weights).T).T
        scores = np.where(offered, scores, -np.inf)
        logs = scores - scores.max(axis=1, keepdims=True)
        logs = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
        value = -float((targets[targets > 0] * logs[targets > 0]).sum())
        error = mass * np.exp(logs) - targets
        gradient = back @ (names.T @ error.T).T + 2 * config.decay * weights
        return value + config.decay * float((flat * flat).sum()), gradient.ravel()

    found = minimize(
        loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": config.iterations}
    )
    result: FloatArray = found.x.reshape(shape).astype(np.float32)
    return result
