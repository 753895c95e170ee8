"""The names among a turn's candidates, chosen anew together with those of comparisons over whole lines.

The probability that the answer is a name stays what the search made it. Among the names it is shared out by the
:class:`~kg.scoring.naming.NamingModel`. Where a comparison over a whole line leads to a name, it becomes its
derivation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from kg.arrays import FloatArray, log_softmax
from kg.candidates.candidate import Candidate
from kg.candidates.comparisons import Comparison, Comparisons
from kg.candidates.proposals import scores_of
from kg.candidates.ranking import Pool, PoolScores, Ranking, as_float, scores_of_pool, sources_of
from kg.candidates.space import DerivationSpace
from kg.derivations import Derivation, Names
from kg.errors import ProgramError
from kg.figures import is_total
from kg.scoring import NAMING_FEATURES
from kg.search import merge_key

LEAST_NAMES = 0.1
"""The least probability of all names together at which they are chosen anew."""

MOST_NEW = 6
"""Answers of comparisons that join the candidates at the most."""

_LEAST = -8.0
_SUPPORT, _UNSUPPORTED, _TOTAL = (NAMING_FEATURES.index(name) for name in ("support", "unsupported", "total"))


@dataclass(frozen=True)
class NamedAnswers:
    """All readings of a question that lead to names.

    Attributes:
        answers: The names to which each row leads.
        features: Of each row, shape ``(rows, len(NAMING_FEATURES))``.
        compared: The comparison of each row, with its derivation; ``None`` for the search's own candidates.
    """

    answers: tuple[Names, ...]
    features: FloatArray
    compared: tuple[tuple[Comparison, Derivation] | None, ...]


def named_answers(space: DerivationSpace, ranked: Ranking) -> NamedAnswers:
    """Returns the readings over whole lines, and after them the names among the candidates."""
    own = {merge_key(one.answer): one.score for one in ranked.candidates if isinstance(one.answer, tuple)}
    total = float(logsumexp(list(own.values()))) if own else 0.0
    comparisons = Comparisons(space)
    answers: list[Names] = []
    rows: list[FloatArray] = []
    compared: list[tuple[Comparison, Derivation] | None] = []
    for one, row in zip(comparisons.all, comparisons.features, strict=True):
        derivation = comparisons.derivation(one)
        try:
            answer = derivation.execute()
        except ProgramError:
            continue
        assert isinstance(answer, tuple)
        answers.append(answer)
        rows.append(row)
        compared.append((one, derivation))
    for candidate in ranked.candidates:
        if isinstance(candidate.answer, tuple):
            answers.append(candidate.answer)
            rows.append(np.zeros(len(NAMING_FEATURES), dtype=np.float32))
            compared.append(None)
    features = np.array(rows, dtype=np.float32).reshape(len(rows), len(NAMING_FEATURES))
    for row, answer in zip(features, answers, strict=True):
        score = own.get(merge_key(answer))
        row[_SUPPORT] = max(score - total, _LEAST) / 3 if score is not None else _LEAST / 3
        row[_UNSUPPORTED] = float(score is None)
        row[_TOTAL] = float(any(map(is_total, answer)))
    return NamedAnswers(tuple(answers), features, tuple(compared))


def with_comparisons(space: DerivationSpace, ranked: Ranking, top_k: int) -> Ranking:
    """Returns a ranking whose names are chosen anew; the same one if the answer is hardly a name."""
    model = space.scorer.naming
    names = [one.score for one in ranked.candidates if isinstance(one.answer, tuple)]
    if model is None or not names or logsumexp(names) < np.log(LEAST_NAMES):
        return ranked
    found = named_answers(space, ranked)
    logs = log_softmax(model.scores(found.features)) + logsumexp(names)
    chosen = [_Chosen(rows, logs) for rows in _by_answer(found.answers)]
    chosen.sort(key=lambda one: (-one.score, found.answers[one.rows[0]]))
    known = {merge_key(one.answer): place for place, one in enumerate(ranked.candidates)}
    new = [one for one in chosen if found.compared[one.best] is not None][:MOST_NEW]
    places = {one.rows[0]: len(ranked.pool) + number for number, one in enumerate(new)}
    pool, scores = _enlarged(space, ranked, [found.compared[one.best] for one in new])
    log_probabilities = np.concatenate([ranked.log_probabilities, np.full(len(new), _LEAST, dtype=np.float32)])
    merged: list[tuple[Candidate, tuple[int, ...]]] = [
        (one, own)
        for one, own in zip(ranked.candidates, ranked.members, strict=True)
        if not isinstance(one.answer, tuple)
    ]
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


def _by_answer(answers: Sequence[Names]) -> list[list[int]]:
    groups: dict[object, list[int]] = {}
    for row, answer in enumerate(answers):
        groups.setdefault(merge_key(answer), []).append(row)
    return list(groups.values())


def _enlarged(
    space: DerivationSpace, ranked: Ranking, new: Sequence[tuple[Comparison, Derivation] | None]
) -> tuple[Pool, PoolScores | None]:
    """The pool and its scores with comparisons, as states over the ends of their lines."""
    pairs = [one for one in new if one is not None]
    if not pairs:
        return ranked.pool, ranked.scores
    history = int(np.argmax(space.priors))
    names = [form.name for form in space.scorer.parsed]
    items = {int(base): item for item, base in reversed(list(enumerate(space.index.base.tolist())))}
    states = np.array(
        [(history, names.index(f"{one.template}(A, A)"), items[one.ends[0]], items[one.ends[1]]) for one, _ in pairs],
        dtype=np.int64,
    )
    values = np.array([as_float(derivation.execute()) for _, derivation in pairs])
    more = Pool(states, scores_of(space, states), values)
    pool = Pool(
        np.concatenate([ranked.pool.states, more.states]),
        np.concatenate([ranked.pool.scores, more.scores]),
        np.concatenate([ranked.pool.values, more.values]),
        {len(ranked.pool) + number: derivation for number, (_, derivation) in enumerate(pairs)},
    )
    if ranked.scores is None:
        return pool, None
    added = scores_of_pool(space, more)
    parts = [(getattr(ranked.scores, name), getattr(added, name)) for name in ("features", "ranker", "read", "blended")]
    joined = [None if first is None else np.concatenate([first, second]) for first, second in parts]
    return pool, PoolScores(*joined)  # type: ignore[arg-type]


def _candidate(space: DerivationSpace, derivation: Derivation, score: float) -> Candidate:
    spelled = space.index.spelled_out(derivation)
    return Candidate(spelled, spelled.execute(), score, spelled.path, sources_of(space, spelled))
