"""From completed derivations to ranked answers: numeric merging, written paths, and the histories to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kg.arrays import DoubleArray, FloatArray, IntArray, log_softmax
from kg.calculations.candidate_features import joint_features
from kg.calculations.linear_models import NAME_FEATURES
from kg.calculations.names import VERDICT
from kg.calculations.pointers import MORE_JOINT
from kg.calculations.space import CONSTANT, DerivationSpace
from kg.errors import ProgramError
from kg.reports import Source
from kg.search import (
    OPERATIONS,
    SERIES_OPERATIONS,
    Answer,
    Constant,
    Derivation,
    Frontier,
    Names,
    Number,
    Reference,
    SearchResult,
    TurnOperation,
    expand,
    merge,
    merge_key,
)

MOST_SERIES = 160
"""Series of a turn that are calculated at the most, the most probable ones."""

ABSENT = -2
"""The number of a second operand that a form does not have."""

_OF_A_FIGURE = 1.5
"""Log-probability that a figure less is worth among derivations of one answer, set by hand: a row is cited before a sum
that equals it."""


@dataclass(frozen=True)
class Candidate:
    """One proposed answer.

    Attributes:
        derivation: How it is calculated, complete: nothing refers to another turn.
        answer: The exact result.
        score: Natural logarithm of its probability among the candidates of its turn, at most 0.
        path: The derivation with every figure written as its path through the graph.
        sources: Where each figure of the derivation was read, in the order of ``derivation.numbers``.
    """

    derivation: Derivation
    answer: Answer
    score: float
    path: str
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Pool:
    """Completed derivations of one turn.

    Attributes:
        states: ``(history, form, first, second)`` a row.
        scores: The search's log-probabilities.
        values: Results as floats; ``nan`` where the arithmetic has none; yes and no are not numbers and have
            values of their own.
        compared: The derivations of places that are comparisons over whole lines; the others follow from the states.
        names: The features of names, shape ``(places, len(NAME_FEATURES))``; ``None`` where all are 0.
        answers: The names at a place, where they are known.
    """

    states: IntArray
    scores: FloatArray
    values: DoubleArray
    compared: Mapping[int, Derivation] = field(default_factory=dict)
    names: FloatArray | None = None
    answers: Mapping[int, Names] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.scores)


def pool(space: DerivationSpace, result: SearchResult, size: int) -> Pool:
    """The best completed states of a search, where the arithmetic has a result."""
    states = np.concatenate([np.zeros((0, 4), dtype=np.int64), *map(_padded, result.completed)])
    scores = np.concatenate([np.zeros(0, dtype=np.float32), *(frontier.scores for frontier in result.completed)])
    values = _values(space, states)
    _series_values(space, states, scores, values)
    places = np.flatnonzero(np.isfinite(values))
    order = places[np.argsort(-scores[places], kind="stable")][:size]
    return Pool(states[order], scores[order], values[order])


def _padded(frontier: Frontier) -> IntArray:
    """The states with an absent operand where they have fewer than two."""
    missing = np.full((len(frontier), 4 - frontier.choices.shape[1]), ABSENT)
    return np.concatenate([frontier.choices, missing], axis=1)


def _operand_values(space: DerivationSpace, states: IntArray, position: int) -> DoubleArray:
    """The float value of each state's operand."""
    items = len(space.index)
    chosen = states[:, 2 + position]
    table = [
        np.concatenate([space.index.numbers, [turn.value for turn in history.turns]]) for history in space.histories
    ]
    constants = [
        float(Constant(form.constants[position]).value)
        if form.operands > position and form.constants[position]
        else 0.0
        for form in space.scorer.parsed
    ]
    by_history = np.stack(table) if table else np.zeros((0, items))
    picked = by_history[states[:, 0], np.maximum(chosen, 0)]
    return np.where(chosen >= 0, picked, np.array(constants)[states[:, 1]])


def _values(space: DerivationSpace, states: IntArray) -> DoubleArray:
    first, second = (_operand_values(space, states, position) for position in (0, 1))
    operation = np.array([OPERATIONS.index(form.operation) for form in space.scorer.parsed])[states[:, 1]]
    with np.errstate(all="ignore"):
        results = {
            "select": first,
            "add": first + second,
            "subtract": first - second,
            "multiply": first * second,
            "divide": first / second,
            "greater": np.where(np.isnan(first - second), np.nan, np.where(first > second, VERDICT, -VERDICT)),
            "exp": np.power(first, second),
            "change_ratio": (first - second) / second,
            "average": (first + second) / 2,
            "drop_ratio": (first - second) / first,
            "share": first / (first + second),
            "divide_thousands": first * 1e3 / second,
            "divide_millions": first * 1e6 / second,
            "multiply_to_millions": first * second / 1e6,
        }
    nothing = np.full(len(states), np.nan)
    table = np.stack([results.get(name, nothing) for name in OPERATIONS])
    values: DoubleArray = table[operation, np.arange(len(states))]
    return values


def _series_values(space: DerivationSpace, states: IntArray, scores: FloatArray, values: DoubleArray) -> None:
    """Fills in the results of the most probable states over a series; the others have none."""
    series = np.array([form.operation in SERIES_OPERATIONS for form in space.scorer.parsed], dtype=bool)[states[:, 1]]
    places = np.flatnonzero(series)
    for place in places[np.argsort(-scores[places], kind="stable")][:MOST_SERIES]:
        form = space.scorer.parsed[states[place, 1]]
        values[place] = space.series.value(form.operation, int(states[place, 2]), int(states[place, 3]), space.count)


def value_groups(found: Pool) -> IntArray:
    """A number for each state, equal where the results are equal to five decimal places."""
    rounded = np.round(found.values, 5)
    return np.unique(rounded, return_inverse=True)[1].reshape(-1)


def _support(scores: FloatArray, groups: IntArray) -> DoubleArray:
    """The log of the summed probabilities of all states with the same result, for each state."""
    return merge(groups, np.maximum(scores, -60))[groups]


@dataclass(frozen=True)
class PoolScores:
    """Scores of the states of a pool, each over all histories together.

    Attributes:
        features: The ranker's features (:func:`features_of`).
        ranker: The ranker's scores; those of the search where there is no ranker.
        read: The encoder's features of each candidate; ``None`` without an encoder.
        final: The features of the final ranking, shape ``(states, len(FINAL_FEATURES))``.
        blended: The final ranking of all features, as log-probabilities.
    """

    features: FloatArray
    ranker: FloatArray
    read: FloatArray | None
    final: FloatArray
    blended: FloatArray


@dataclass(frozen=True)
class Ranking:
    """The merged answers of a turn, best first.

    Attributes:
        candidates: One for each distinct answer, its score the log of the summed probabilities of its derivations.
        members: For each candidate, the places in the pool of its derivations, best first.
        log_probabilities: Of every state of the pool.
        pool: The states.
        scores: By which they are ranked; ``None`` for an empty pool.
    """

    candidates: tuple[Candidate, ...]
    members: tuple[tuple[int, ...], ...]
    log_probabilities: FloatArray
    pool: Pool
    scores: PoolScores | None = None


def rank(space: DerivationSpace, found: Pool, top_k: int) -> Ranking:
    """Merges the equal answers of a pool and writes the best ``top_k`` out."""
    if not len(found):
        return Ranking((), (), np.zeros(0, dtype=np.float32), found)
    scores = scores_of_pool(space, found)
    log_probabilities = scores.blended
    groups = value_groups(found)
    weight = _support(log_probabilities, groups)
    figures = [3 if form.operation in SERIES_OPERATIONS else form.kinds.count("A") for form in space.scorer.parsed]
    order = np.lexsort((_OF_A_FIGURE * np.array(figures)[found.states[:, 1]] - log_probabilities, -weight))
    members: dict[object, list[int]] = {}
    candidates: dict[object, Candidate] = {}
    key_of: dict[int, object] = {}
    for place in order.tolist():
        group = int(groups[place])
        if group not in key_of:
            full = len(candidates) >= top_k
            candidate = None if full else _candidate(space, found, place, float(min(weight[place], 0.0)))
            if candidate is None:
                continue
            key_of[group] = merge_key(candidate.answer)
            candidates.setdefault(key_of[group], candidate)
        members.setdefault(key_of[group], []).append(place)
    ranked = tuple(tuple(places) for places in members.values())
    return Ranking(tuple(candidates.values()), ranked, log_probabilities, found, scores)


def scores_of_pool(space: DerivationSpace, found: Pool) -> PoolScores:
    """The scores of the states of a pool."""
    features = features_of(space, found)
    ranker, read, scorer = found.scores, None, space.scorer
    if scorer.ranker is not None:
        ranker = scorer.ranker.scores(features, space.question.context[None])[0]
    if space.pointers is not None:
        read = space.pointers.candidate_features(scorer.parsed, space.read_forms, found.states)
    names = np.zeros((len(found), len(NAME_FEATURES)), dtype=np.float32) if found.names is None else found.names
    encoded = np.zeros((len(found), len(MORE_JOINT)), dtype=np.float32) if read is None else read
    final = np.concatenate([ranker[:, None], encoded, names], axis=1).astype(np.float32)
    scores = ranker if scorer.final is None else scorer.final.scores(final)
    return PoolScores(features, ranker, read, final, log_softmax(scores))


def features_of(space: DerivationSpace, found: Pool) -> FloatArray:
    """The features by which the ranker knows the candidates of a pool."""
    local = found.scores - space.priors[found.states[:, 0]]
    return joint_features(space, found.states, local, found.values, _support(local, value_groups(found)))


def collapsed_of(space: DerivationSpace, state: IntArray) -> TurnOperation:
    """A state as one operation over figures, constants and earlier answers."""
    form = space.scorer.parsed[state[1]]
    items = len(space.index)
    operands: list[Number | Constant | Reference] = []
    for position in range(form.operands):
        chosen = int(state[2 + position])
        if chosen == CONSTANT:
            operands.append(Constant(form.constants[position]))
        elif chosen < items:
            operands.append(space.index.number(int(space.index.base[chosen]), int(space.index.variant[chosen])))
        else:
            operands.append(Reference(chosen - items))
    return TurnOperation(form.operation, tuple(operands))


def derivation_of(space: DerivationSpace, state: IntArray) -> Derivation | None:
    """A state's complete derivation; ``None`` when it refers to a turn that has none."""
    form = space.scorer.parsed[state[1]]
    if form.operation in SERIES_OPERATIONS:
        return space.series.derivation(form.operation, int(state[2]), int(state[3]), space.count)
    return expand(collapsed_of(space, state), [turn.derivation for turn in space.histories[state[0]].turns])


def answered_at(space: DerivationSpace, found: Pool, place: int) -> tuple[Derivation, Answer] | None:
    """The complete derivation at a place of a pool with its exact answer.

    There is none when it refers to a turn without a derivation, or calculates with an earlier "yes".
    """
    derivation = found.compared.get(place) or derivation_of(space, found.states[place])
    if derivation is None:
        return None
    try:
        return derivation, derivation.execute()
    except ProgramError:
        return None


def _candidate(space: DerivationSpace, found: Pool, place: int, score: float) -> Candidate | None:
    result = answered_at(space, found, place)
    if result is None:
        return None
    derivation, answer = result
    places = (space.index.place_of.get(number.source or "") for number in derivation.numbers)
    sources = tuple(space.index.observations[place].source for place in places if place is not None)
    return Candidate(derivation, answer, score, derivation.path, sources)


def best_states(ranked: Ranking, count: int) -> Sequence[int]:
    """Places in the pool of the most probable states with distinct histories or results, best first."""
    groups = value_groups(ranked.pool)
    chosen: list[int] = []
    seen: set[tuple[int, int]] = set()
    for place in np.argsort(-ranked.log_probabilities, kind="stable"):
        key = (int(ranked.pool.states[place, 0]), int(groups[place]))
        if key not in seen:
            seen.add(key)
            chosen.append(int(place))
        if len(chosen) >= count:
            break
    return chosen
