"""The fit of the weights that blend a language model's evidence with the beam's score, by cross-validation.

    >>> found = choose_blend(turns, seed=0)
    >>> found.accuracy, found.beam_accuracy, found.blend.weights
    (0.623, 0.603, {'beam': 1.08, 'share': 0.21, 'first': 0.34})

The turns must come from a search that was fitted without their report: a search is too confident on its own training
turns. The loss of a turn is minus the logarithm of the probability of its right candidate, or of none if none is right.
The penalty pulls to the search's own probabilities, so evidence without
information gets no weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from kg.arrays import DoubleArray
from kg.errors import DataError
from optimize.logistic import fit_choices
from programs.evidence import (
    CANDIDATE_FEATURES,
    NONE_FEATURES,
    Blend,
    Evidence,
    candidate_features,
    none_features,
)

FEATURE_SETS: tuple[tuple[str, ...], ...] = (
    ("share",),
    ("share", "first"),
    ("share", "first", "length"),
    ("share", "likelihood", "first", "length"),
    ("share", "first", "agrees", "length"),
    ("share", "likelihood", "first", "agrees", "length"),
)
"""Features that are tried in addition to the beam's score."""

ALONE_SETS: tuple[tuple[str, ...], ...] = ((), ("length",))
"""Features that are tried where the model is not asked."""

PENALTIES = (1.0, 3.0, 10.0, 100.0)
"""Strengths of the pull towards the beam's own probabilities, for all turns together."""

FOLDS = 10


@dataclass(frozen=True)
class JudgedTurn:
    """A training turn as an aggregator sees it, with its right candidates.

    Attributes:
        group: The unit of the folds: the report.
        scores: The search's log-probabilities of the candidates that are shown.
        lengths: Figures and operations of their derivations.
        right: Whether each of them has the gold answer.
        evidence: The language model's evidence; ``None`` if it was not asked.
    """

    group: str
    scores: tuple[float, ...]
    lengths: tuple[int, ...]
    right: tuple[bool, ...]
    evidence: Evidence | None


@dataclass(frozen=True)
class Fitted:
    """The result of the cross-validation.

    Attributes:
        blend: The blend with the selected features and penalty, fitted on all turns.
        accuracy: Share of right picks in [0, 1], each turn judged by weights that were fitted without its report.
        beam_accuracy: The same of the beam's own first candidate.
        picks: The candidate that was picked for each turn in cross-validation.
        confidences: The probability that it was given.
    """

    blend: Blend
    accuracy: float
    beam_accuracy: float
    picks: tuple[int, ...]
    confidences: tuple[float, ...]


def choose_blend(
    turns: Sequence[JudgedTurn], *, seed: int, with_evidence: bool = True, description: str = "", folds: int = FOLDS
) -> Fitted:
    """Selects features and penalty by the cross-validated loss, and fits them on all turns.

    Args:
        turns: At least one of each of two groups; those without evidence are judged by the beam's score.
        seed: Of the folds.
        with_evidence: Whether the model's evidence may be used at all; without it only the beam is calibrated.
        description: Of the training data, kept with the weights.
        folds: Parts into which the groups are cut, at most one for each.

    Raises:
        DataError: All turns are of one group.
    """
    if not with_evidence:
        turns = [replace(turn, evidence=None) for turn in turns]
    fold_of = _folds([turn.group for turn in turns], seed, folds)
    sets: tuple[tuple[str, ...], ...] = FEATURE_SETS if with_evidence else ALONE_SETS
    # The matrices are so small that threads of the linear algebra library only wait for one another.
    with threadpool_limits(limits=1):
        tried = [
            (names, penalty, _validated(turns, fold_of, names, penalty)) for names in sets for penalty in PENALTIES
        ]
        names, penalty, judged = min(tried, key=lambda one: _loss(turns, one[2]))
        blend = fit_blend(turns, names, penalty, description)
    picks = [int(np.argmax(one[:-1])) for one in judged]
    return Fitted(
        blend,
        accuracy=float(np.mean([turn.right[pick] for turn, pick in zip(turns, picks, strict=True)])),
        beam_accuracy=float(np.mean([turn.right[0] for turn in turns])),
        picks=tuple(picks),
        confidences=tuple(one[pick] for one, pick in zip(judged, picks, strict=True)),
    )


def improves(before: Sequence[bool], after: Sequence[bool]) -> bool:
    """Whether more turns are right after than before, by more than one standard error of the mean difference."""
    gains = np.array(after, dtype=float) - np.array(before, dtype=float)
    return bool(gains.mean() > gains.std() / math.sqrt(len(gains)))


def fit_blend(turns: Sequence[JudgedTurn], names: Sequence[str], penalty: float, description: str = "") -> Blend:
    """Fits the weights of some features, always with ``beam`` and those of none, by maximum likelihood."""
    own = [name for name in CANDIDATE_FEATURES if name == "beam" or name in names]
    gives = [turn.evidence for turn in turns if turn.evidence is not None] if names else []
    of_none = [
        name
        for name in NONE_FEATURES
        if name in ("bias", "rest")
        or (name == "likelihood" and any(one.likelihoods for one in gives))
        or (name == "none" and any(one.none is not None for one in gives))
    ]
    columns = [CANDIDATE_FEATURES.index(name) for name in own]
    none_columns = [NONE_FEATURES.index(name) for name in of_none]
    rows, right = [], []
    for turn in turns:  # a row for each candidate, the last one for none
        table = np.zeros((len(turn.scores) + 1, len(own) + len(of_none)))
        table[:-1, : len(own)] = candidate_features(turn.scores, turn.lengths, turn.evidence)[:, columns]
        table[-1, len(own) :] = none_features(turn.scores, turn.evidence)[none_columns]
        rows.append(table)
        right.append([*turn.right, not any(turn.right)])
    start = [
        *(Blend().weights.get(name, 0.0) for name in own),
        *(Blend().none.get(name, 0.0) for name in of_none),
    ]
    found = fit_choices(rows, right, penalty=penalty, start=start).tolist()
    weights = dict(zip(own, found, strict=False))
    return Blend(weights, dict(zip(of_none, found[len(own) :], strict=True)), description)


def _validated(
    turns: Sequence[JudgedTurn], folds: DoubleArray, names: Sequence[str], penalty: float
) -> list[tuple[float, ...]]:
    """Returns the probabilities of each turn's candidates and of none, by weights fitted without its fold."""
    judged: list[tuple[float, ...]] = [()] * len(turns)
    for fold in np.unique(folds):
        blend = fit_blend([turns[place] for place in np.flatnonzero(folds != fold).tolist()], names, penalty)
        for place in np.flatnonzero(folds == fold).tolist():
            one = blend.judge(turns[place].scores, turns[place].lengths, turns[place].evidence)
            judged[place] = (*one.candidates, one.none)
    return judged


def _loss(turns: Sequence[JudgedTurn], judged: Sequence[tuple[float, ...]]) -> float:
    losses = []
    for turn, shares in zip(turns, judged, strict=True):
        right = [*turn.right, not any(turn.right)]
        losses.append(-np.log(max(sum(share for share, good in zip(shares, right, strict=True) if good), 1e-12)))
    return float(np.mean(losses))


def _folds(groups: Sequence[str], seed: int, count: int) -> DoubleArray:
    names = sorted(set(groups))
    if len(names) < 2:
        raise DataError("evidence weights must be fitted on turns of at least two reports")
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: number % min(count, len(names)) for number, place in enumerate(order)}
    return np.array([fold_of[group] for group in groups])
