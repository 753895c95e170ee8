"""The features from which :class:`kg.calculations.linear_models.ConfidenceModel` judges the result of a search."""

from __future__ import annotations

import numpy as np

from kg.arrays import IntArray
from kg.calculations.linear_models import CONFIDENCE_FEATURES
from kg.calculations.standalone import words_in_report
from kg.calculations.turn_search import TurnSearch

_LEAST = -12.0
_COVERAGES = ("coverage", "least_coverage")


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
    }


def _log_odds(share: float) -> float:
    clipped = float(np.clip(share, 1e-4, 1 - 1e-4))
    return float(np.log(clipped / (1 - clipped)))


def _of_question(found: TurnSearch) -> dict[str, float]:
    space = found.space
    known = words_in_report(space.index, space.question.questions[-1])
    return {
        **{name: known[name] for name in ("unknown_words", "unknown_years", "words")},
        "first_turn": float(len(space.question.questions) == 1 and found.earlier is None),
        "earlier": -float(space.priors.max()) / 3,
    }


def _of_state(found: TurnSearch, place: int) -> dict[str, float]:
    """The features of the most probable calculation of the best candidate."""
    space, pool = found.space, found.ranked.pool
    state = pool.states[place]
    form = space.scorer.parsed[state[1]]
    forms = np.sort(space.form_log_probabilities[state[0]])
    own = float(space.form_log_probabilities[state[0], state[1]])
    figures = _figures(found)
    return {
        "form_margin": max(own - float(forms[-1] if own < forms[-1] else forms[-2]), _LEAST) / 4,
        "is_look_up": float(form.operation == "select"),
        "signs_mixed": _signs_mixed(found, state),
        "elsewhere": _elsewhere(found, figures),
        **_of_years(found, figures),
        **(_of_pointers(found, place) if space.pointers is not None else {}),
    }


def _figures(found: TurnSearch) -> list[int]:
    """The observations of the best candidate."""
    places = found.space.index.place_of
    sources = [number.source for number in found.candidates[0].derivation.numbers]
    return list(dict.fromkeys(places[source] for source in sources if source in places))


def _signs_mixed(found: TurnSearch, state: IntArray) -> float:
    """Whether a calculation over a row takes one figure with its sign and another without."""
    index = found.space.index
    items = [item for item in state[2:4].tolist() if 0 <= item < len(index)]
    rows = index.row[index.base[items]]
    same_row = len(items) == 2 and rows[0] == rows[1] >= 0
    return float(same_row and bool((index.variant[items] == 2).any()) and bool((index.numbers[items] < 0).any()))


def _elsewhere(found: TurnSearch, figures: list[int]) -> float:
    """The share of the question's words that the report has, but not at the figures."""
    question = found.space.question
    every = question.all_words[figures].any(axis=0)
    return float(question.known_weights[~every].sum()) / question.mass


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
    return {name: min((one[place] for one in coverages), default=0.6) for place, name in enumerate(_COVERAGES)}
