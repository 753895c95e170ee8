"""The features from which :class:`kg.calculations.linear_models.ConfidenceModel` judges the result of a search."""

from __future__ import annotations

import numpy as np

from kg.arrays import IntArray
from kg.calculations.linear_models import CONFIDENCE_FEATURES, SEARCH_FEATURES
from kg.calculations.standalone import words_in_report
from kg.calculations.turn_search import TurnSearch
from kg.text import content_tokens, stem

_LEAST = -12.0
_COVERAGES = ("coverage", "least_coverage")


def confidence_features(found: TurnSearch) -> dict[str, float]:
    """Returns the features of a search's result by name; all 0 without candidates."""
    values = dict.fromkeys(CONFIDENCE_FEATURES, 0.0)
    if found.candidates:
        place = found.ranked.members[0][0]
        values |= _of_ranking(found) | _of_question(found) | _of_state(found, place)
        values["small"] = max(4 - float(np.log(len(found.space.index.observations))), 0.0) / 2
        values |= {f"small_{name}": values["small"] * values[name] for name in SEARCH_FEATURES}
    return values


def _of_ranking(found: TurnSearch) -> dict[str, float]:
    scores = np.array([one.score for one in found.candidates])
    shares = np.exp(scores)
    rest = max(1.0 - float(shares.sum()), 1e-4)
    return {
        "best": _log_odds(float(shares[0])) / 3,
        "margin": min(float(scores[0] - scores[1]), 8.0) / 4 if len(scores) > 1 else 2.0,
        "rest": float(np.log(rest)) / 5,
        "entropy": -float((shares * np.maximum(scores, _LEAST)).sum()),
    }


def _log_odds(share: float) -> float:
    clipped = float(np.clip(share, 1e-4, 1 - 1e-4))
    return float(np.log(clipped / (1 - clipped)))


def _of_question(found: TurnSearch) -> dict[str, float]:
    space = found.space
    known = words_in_report(space.index, space.question.questions[-1])
    return {
        **{name: known[name] for name in ("unknown_years", "words")},
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
        "year_missed": _year_missed(found, figures),
        "unexplained": _unexplained(found, figures),
        "label_unsaid": _label_unsaid(found, figures),
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


def _year_missed(found: TurnSearch, figures: list[int]) -> float:
    """Whether the question names a year that is not one of the figures'."""
    periods = set(found.space.question.periods[figures].tolist())
    return float(bool(set(found.space.question.years) - periods) and bool(figures) and -1 not in periods)


def _unexplained(found: TurnSearch, figures: list[int]) -> float:
    """The share of the question's words that no word of the figures comes near, in [0, 1]."""
    question, index, pointers = found.space.question, found.space.index, found.space.pointers
    words = {word: index.idf(word) for word in question.words if word.isalpha()}
    known = [word for word in dict.fromkeys(question.words) if word in index.vocabulary]
    near = {} if pointers is None else {stem(word): alike for word, alike in pointers.words_near(figures)}
    near |= {known[place]: 1.0 for place in np.flatnonzero(question.all_words[figures].any(axis=0))}
    gaps = [weight * (1 - max(near.get(word, 0.0), 0.0)) for word, weight in words.items()]
    return sum(gaps) / sum(words.values()) if words else 0.0


def _label_unsaid(found: TurnSearch, figures: list[int]) -> float:
    """The share of a figure's label that the question does not say, of the worst figure; 0.5 without labels."""
    index, said = found.space.index, set(found.space.question.words)
    labels = [f"{index.observations[place].label} {index.observations[place].section}" for place in figures]
    weights = [{word: index.idf(word) for word in content_tokens(label)} for label in labels]
    shares = [sum(own[word] for word in own.keys() - said) / sum(own.values()) for own in weights if own]
    return max(shares, default=0.5)


def _of_pointers(found: TurnSearch, place: int) -> dict[str, float]:
    space = found.space
    assert space.pointers is not None
    history, number, *chosen = (int(value) for value in found.ranked.pool.states[place])
    form = space.scorer.parsed[number]
    places = [(position, chosen[0] if position else -1) for position, kind in enumerate(form.kinds) if kind == "A"]
    coverages = [space.pointers.coverage(history, form, at, first, chosen[at]) for at, first in places]
    return {name: min((one[place] for one in coverages), default=0.6) for place, name in enumerate(_COVERAGES)}
