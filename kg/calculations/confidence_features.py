"""The features from which :class:`kg.calculations.linear_models.ConfidenceModel` judges the result of a search."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from kg.calculations.linear_models import CONFIDENCE_FEATURES
from kg.calculations.operand_features import JOINT_NAMES
from kg.calculations.pointers import MORE_JOINT
from kg.calculations.standalone import words_in_report
from kg.calculations.turn_search import TurnSearch
from kg.search import SERIES_OPERATIONS

_LEAST = -12.0
_COVERAGES = ("coverage", "least_coverage")
_TOTAL = np.array([3.0 if name in ("form", "first", "second") else 0.0 for name in MORE_JOINT], dtype=np.float32)
"""From the encoder's features of a candidate to its log-probability."""


def confidence_features(found: TurnSearch) -> dict[str, float]:
    """Returns the features of a search's result by name; all 0 without candidates."""
    values = dict.fromkeys(CONFIDENCE_FEATURES, 0.0)
    if found.candidates:
        place = found.ranked.members[0][0]
        values |= _of_ranking(found) | _of_question(found) | _of_state(found, place)
    return values


def _of_ranking(found: TurnSearch) -> dict[str, float]:
    scores = np.array([one.score for one in found.candidates])
    shares = np.exp(scores)
    rest = max(1.0 - float(shares.sum()), 1e-4)
    return {
        "best": _log_odds(float(shares[0])) / 3,
        "margin": min(float(scores[0] - scores[1]), 8.0) / 4 if len(scores) > 1 else 2.0,
        "rest": float(np.log(rest)) / 5,
        "is_name": float(isinstance(found.candidates[0].answer, tuple)),
        "entropy": -float((shares * np.maximum(scores, _LEAST)).sum()),
        **_views(found),
    }


def _views(found: TurnSearch) -> dict[str, float]:
    """The best candidate's probability among the beam's own, as log-odds, for the network and for the encoder alone."""
    scores = found.ranked.scores
    assert scores is not None
    beam = len(found.ranked.pool) - len(found.ranked.pool.compared)
    members = [place for place in found.ranked.members[0] if place < beam]
    read = scores.ranker if scores.read is None else scores.read @ _TOTAL
    views = {"ranker_share": scores.ranker[:beam], "encoder_share": read[:beam]}
    shares = {name: float(softmax(view)[members].sum()) if members else 0.0 for name, view in views.items()}
    return {name: _log_odds(share) / 3 for name, share in shares.items()}


def _log_odds(share: float) -> float:
    clipped = float(np.clip(share, 1e-4, 1 - 1e-4))
    return float(np.log(clipped / (1 - clipped)))


def _of_question(found: TurnSearch) -> dict[str, float]:
    space = found.space
    known = words_in_report(space.index, space.question.questions[-1])
    return {
        **{name: known[name] for name in ("unknown_words", "rarest_unknown", "unknown_years", "words")},
        "first_turn": float(len(space.question.questions) == 1 and found.earlier is None),
        "earlier": -float(space.priors.max()) / 3,
    }


def _of_state(found: TurnSearch, place: int) -> dict[str, float]:
    """The features of the most probable calculation of the best candidate."""
    space, pool = found.space, found.ranked.pool
    state = pool.states[place]
    form = space.scorer.parsed[state[1]]
    assert found.ranked.scores is not None
    joint = found.ranked.scores.features[place]
    forms = np.sort(space.form_log_probabilities[state[0]])
    own = float(space.form_log_probabilities[state[0], state[1]])
    figures = _figures(found)
    return {
        "years_used": float(max(joint[JOINT_NAMES.index("years_used")], joint[JOINT_NAMES.index("years_carried")])),
        "form_margin": max(own - float(forms[-1] if own < forms[-1] else forms[-2]), _LEAST) / 4,
        "figures": float(form.kinds.count("A")),
        "is_look_up": float(form.operation == "select"),
        "is_series": float(form.operation in SERIES_OPERATIONS),
        "uses_answer": float("R" in form.kinds),
        **_of_words(found, figures),
        **_of_years(found, figures),
        **(_of_pointers(found, place) if space.pointers is not None else {}),
    }


def _figures(found: TurnSearch) -> list[int]:
    """The observations of the best candidate."""
    places = found.space.index.place_of
    sources = [number.source for number in found.candidates[0].derivation.numbers]
    return list(dict.fromkeys(places[source] for source in sources if source in places))


def _of_words(found: TurnSearch, figures: list[int]) -> dict[str, float]:
    """The question's words that are said of the figures, and those that the report has elsewhere."""
    question = found.space.question
    near, every = (words[figures].any(axis=0) for words in (question.near_words, question.all_words))
    known = question.known_weights
    return {
        "near_words": float(known[near].sum()) / question.mass,
        "elsewhere": float(known[~every].sum()) / question.mass,
    }


def _of_years(found: TurnSearch, figures: list[int]) -> dict[str, float]:
    """Whether the question names a year, and whether it names one that is not the figures' own."""
    asked = set(found.space.question.years)
    periods = set(found.space.question.periods[figures].tolist())
    missed = bool(asked - periods) and bool(figures) and -1 not in periods
    return {"years_asked": float(bool(asked)), "year_missed": float(missed)}


def _of_pointers(found: TurnSearch, place: int) -> dict[str, float]:
    space = found.space
    assert space.pointers is not None
    history, number, *chosen = (int(value) for value in found.ranked.pool.states[place])
    form = space.scorer.parsed[number]
    coverages = []
    for position in range(form.operands):
        if form.kinds[position] == "A":
            first = chosen[0] if position else -1
            coverages.append(space.pointers.coverage(history, form, position, first, chosen[position]))
    assert found.ranked.scores is not None
    assert found.ranked.scores.read is not None
    return {
        "pointed": float(found.ranked.scores.read[place, MORE_JOINT.index("weakest")]),
        **{name: min((one[place] for one in coverages), default=0.6) for place, name in enumerate(_COVERAGES)},
    }
