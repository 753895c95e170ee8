"""Readings of a question that join the candidates of the search, and share their probability anew.

A reading over a whole line becomes a state at the ends of its line, so that later turns, the ranker's features and the
confidence see it as they see every other candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from scipy.special import logsumexp

from kg.arrays import FloatArray, IntArray
from kg.calculations.candidate import Candidate
from kg.calculations.ranking import Pool, PoolScores, Ranking, as_float, scores_of_pool, sources_of
from kg.calculations.space import DerivationSpace
from kg.errors import ProgramError
from kg.search import Answer, Derivation, Frontier, merge_key

_LEAST = -8.0


@dataclass(frozen=True)
class NewReading:
    """A calculation that joins the candidates.

    Attributes:
        derivation: The calculation.
        form: The name of the form whose operands are both ends.
        ends: The observations at both ends.
    """

    derivation: Derivation
    form: str
    ends: tuple[int, int]


@dataclass(frozen=True)
class Readings:
    """All readings of a question among which a choice is made.

    Attributes:
        answers: The answer of each row.
        features: Of each row, shape ``(rows, features)``.
        new: The calculation of each row; ``None`` for the search's own candidates.
    """

    answers: tuple[Answer, ...]
    features: FloatArray
    new: tuple[NewReading | None, ...]


class OverEnds(Protocol):
    """A reading over figures, of which two are its ends."""

    @property
    def ends(self) -> tuple[int, int]:
        """The observations at both ends."""


Reading = TypeVar("Reading", bound=OverEnds)


def executed(
    found: Sequence[Reading],
    features: FloatArray,
    derivation_of: Callable[[Reading], Derivation],
    form_of: Callable[[Reading], str],
) -> tuple[list[Answer], list[FloatArray], list[NewReading | None]]:
    """Returns the answers, the rows of features and the calculations of the readings that have a result."""
    answers: list[Answer] = []
    rows: list[FloatArray] = []
    new: list[NewReading | None] = []
    for one, row in zip(found, features, strict=True):
        derivation = derivation_of(one)
        try:
            answers.append(derivation.execute())
        except ProgramError:
            continue
        rows.append(row)
        new.append(NewReading(derivation, form_of(one), one.ends))
    return answers, rows, new


def with_readings(
    space: DerivationSpace,
    ranked: Ranking,
    found: Readings,
    logs: FloatArray,
    shared: Callable[[Answer], bool],
    most_new: int,
    top_k: int,
    others: float = 0.0,
) -> Ranking:
    """Returns a ranking with the best readings among the candidates.

    Args:
        space: What was searched.
        ranked: The candidates before.
        found: The readings.
        logs: The log-probability of each reading.
        shared: Whether the probability of a candidate is shared anew; the others keep theirs.
        most_new: Answers of new readings that join at the most.
        top_k: Candidates that are kept.
        others: Added to the log-probabilities of the candidates that keep theirs.
    """
    chosen = [_Chosen(rows, logs) for rows in _by_answer(found.answers)]
    chosen.sort(key=lambda one: (-one.score, str(found.answers[one.rows[0]])))
    known = {merge_key(one.answer): place for place, one in enumerate(ranked.candidates)}
    new = [one for one in chosen if found.new[one.best] is not None][:most_new]
    places = {one.rows[0]: len(ranked.pool) + number for number, one in enumerate(new)}
    pool, scores = _enlarged(space, ranked, [found.new[one.best] for one in new])
    log_probabilities = np.concatenate([ranked.log_probabilities, np.full(len(new), _LEAST, dtype=np.float32)])
    merged: list[tuple[Candidate, tuple[int, ...]]] = []
    for candidate, own in zip(ranked.candidates, ranked.members, strict=True):
        if not shared(candidate.answer):
            log_probabilities[list(own)] += np.float32(others)
            merged.append((replace(candidate, score=candidate.score + others), own))
    for one in chosen:
        place = known.get(merge_key(found.answers[one.rows[0]]))
        members = ranked.members[place] if place is not None else ()
        if members:
            shift = one.score - ranked.candidates[place].score if place is not None else 0.0
            log_probabilities[list(members)] += np.float32(shift)
        if one.rows[0] in places:
            own_place = places[one.rows[0]]
            log_probabilities[own_place] = one.score + (np.log(0.5) if members else 0.0)
            log_probabilities[list(members)] += np.float32(np.log(0.5))
            members = (own_place, *members)
            merged.append((_candidate(space, pool.compared[own_place], one.score), members))
        elif place is not None:
            merged.append((replace(ranked.candidates[place], score=one.score), members))
    merged.sort(key=lambda pair: -pair[0].score)
    kept = merged[:top_k]
    return Ranking(
        tuple(one for one, _ in kept), tuple(members for _, members in kept), log_probabilities, pool, scores
    )


class _Chosen:
    """The rows that lead to one answer, with their summed probability."""

    def __init__(self, rows: Sequence[int], logs: FloatArray) -> None:
        self.rows = tuple(rows)
        self.score = float(min(logsumexp(logs[list(rows)]), 0.0))
        self.best = rows[int(np.argmax(logs[list(rows)]))]


def _by_answer(answers: Sequence[Answer]) -> list[list[int]]:
    groups: dict[object, list[int]] = {}
    for row, answer in enumerate(answers):
        groups.setdefault(merge_key(answer), []).append(row)
    return list(groups.values())


def _enlarged(
    space: DerivationSpace, ranked: Ranking, new: Sequence[NewReading | None]
) -> tuple[Pool, PoolScores | None]:
    """The pool and its scores with new readings, as states over the ends of their lines."""
    readings = [one for one in new if one is not None]
    if not readings:
        return ranked.pool, ranked.scores
    history = int(np.argmax(space.priors))
    names = [form.name for form in space.scorer.parsed]
    items = {int(base): item for item, base in reversed(list(enumerate(space.index.base.tolist())))}
    states = np.array(
        [(history, names.index(one.form), items[one.ends[0]], items[one.ends[1]]) for one in readings],
        dtype=np.int64,
    )
    values = np.array([as_float(one.derivation.execute()) for one in readings])
    more = Pool(states, scores_of(space, states), values)
    before = len(ranked.pool)
    pool = Pool(
        np.concatenate([ranked.pool.states, more.states]),
        np.concatenate([ranked.pool.scores, more.scores]),
        np.concatenate([ranked.pool.values, more.values]),
        {**ranked.pool.compared, **{before + number: one.derivation for number, one in enumerate(readings)}},
    )
    added = scores_of_pool(space, more)
    if ranked.scores is None:  # the search found nothing
        return pool, added
    parts = [(getattr(ranked.scores, name), getattr(added, name)) for name in ("features", "ranker", "read", "blended")]
    joined = [None if first is None else np.concatenate([first, second]) for first, second in parts]
    return pool, PoolScores(*joined)  # type: ignore[arg-type]


def _candidate(space: DerivationSpace, derivation: Derivation, score: float) -> Candidate:
    spelled = space.index.spelled_out(derivation)
    return Candidate(spelled, spelled.execute(), score, spelled.path, sources_of(space, spelled))


def scores_of(space: DerivationSpace, states: IntArray) -> FloatArray:
    """The log-probabilities that the search gives to states, whether it reached them or not."""
    scores = np.zeros(len(states), dtype=np.float32)
    for place, state in enumerate(states):
        form = space.scorer.parsed[state[1]]
        total = float(space.priors[state[0]] + space.form_log_probabilities[state[0], state[1]])
        for position in range(form.operands):
            before = Frontier(state[None, : 2 + position], np.zeros(1, dtype=np.float32))
            step = space.expand(before)
            total += float(step.log_probability[step.choice == state[2 + position]][0])
        scores[place] = total
    return scores
