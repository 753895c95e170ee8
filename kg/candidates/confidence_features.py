"""The features from which :class:`kg.scoring.confidence.ConfidenceModel` judges the result of a search."""

from __future__ import annotations

import numpy as np

from kg.arrays import FloatArray
from kg.candidates.ranking import features_of
from kg.candidates.search import TurnSearch
from kg.derivations import SERIES_OPERATIONS
from kg.scoring import CONFIDENCE_FEATURES, JOINT_NAMES

_LEAST = -12.0


def confidence_features(found: TurnSearch) -> FloatArray:
    """Returns the features of a search's result, shape ``(len(CONFIDENCE_FEATURES),)``; zeros without candidates."""
    values = dict.fromkeys(CONFIDENCE_FEATURES, 0.0)
    if found.candidates:
        place = found.ranked.members[0][0]
        values |= _of_ranking(found) | _of_question(found) | _of_state(found, place)
    return np.array([values[name] for name in CONFIDENCE_FEATURES], dtype=np.float32)


def _of_ranking(found: TurnSearch) -> dict[str, float]:
    scores = np.array([one.score for one in found.candidates])
    shares = np.exp(scores)
    best = float(np.clip(shares[0], 1e-4, 1 - 1e-4))
    rest = max(1.0 - float(shares.sum()), 1e-4)
    return {
        "best": float(np.log(best / (1 - best))) / 3,
        "margin": min(float(scores[0] - scores[1]), 8.0) / 4 if len(scores) > 1 else 2.0,
        "rest": float(np.log(rest)) / 5,
        "entropy": -float((shares * np.maximum(scores, _LEAST)).sum()),
    }


def _of_question(found: TurnSearch) -> dict[str, float]:
    space = found.space
    question, index = space.question, space.index
    words = list(dict.fromkeys(question.words))
    weights = np.array([index.idf(word) for word in words])
    unknown = np.array([word not in index.vocabulary for word in words], dtype=bool)
    periods = set(index.period.tolist())
    return {
        "unknown_words": float(weights[unknown].sum() / weights.sum()) if len(words) else 0.0,
        "rarest_unknown": float(weights[unknown].max(initial=0.0)) / 8,
        "unknown_years": float(any(year not in periods for year in question.years)),
        "first_turn": float(len(question.questions) == 1),
        "earlier": -float(space.priors.max()) / 3,
        "words": min(len(words), 12) / 6,
    }


def _of_state(found: TurnSearch, place: int) -> dict[str, float]:
    """The features of the most probable calculation of the best candidate."""
    space, pool = found.space, found.ranked.pool
    state = pool.states[place]
    form = space.scorer.parsed[state[1]]
    joint = features_of(space, pool)[place]
    forms = np.sort(space.form_log_probabilities[state[0]])
    own = float(space.form_log_probabilities[state[0], state[1]])
    values = {name: float(joint[JOINT_NAMES.index(name)]) for name in ("near_words", "all_words")}
    values |= {
        "years_used": float(max(joint[JOINT_NAMES.index("years_used")], joint[JOINT_NAMES.index("years_carried")])),
        "form": max(own, _LEAST) / 3,
        "form_margin": max(own - float(forms[-1] if own < forms[-1] else forms[-2]), _LEAST) / 4,
        "figures": float(form.kinds.count("A")),
        "is_look_up": float(form.operation == "select"),
        "is_series": float(form.operation in SERIES_OPERATIONS),
        "uses_answer": float("R" in form.kinds),
    }
    if space.pointers is not None:
        values |= _of_pointers(found, place)
    return values


def _of_pointers(found: TurnSearch, place: int) -> dict[str, float]:
    space = found.space
    assert space.pointers is not None
    history, number, *chosen = (int(value) for value in found.ranked.pool.states[place])
    form = space.scorer.parsed[number]
    means, leasts = [], []
    for position in range(form.operands):
        if form.kinds[position] == "A":
            first = chosen[0] if position else -1
            mean, least = space.pointers.coverage(history, form, position, first, chosen[position])
            means.append(mean)
            leasts.append(least)
    state = found.ranked.pool.states[place : place + 1]
    read = space.pointers.candidate_features(space.scorer.parsed, space.read_forms, state)[0]
    return {
        "pointed": float(read[5]),
        "coverage": min(means, default=0.6),
        "least_coverage": min(leasts, default=0.6),
    }
