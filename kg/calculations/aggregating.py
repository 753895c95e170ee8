"""Aggregates among a turn's candidates: the search's own candidates and those over groups of figures, chosen anew.

Where a question may ask for an aggregate, a linear model shares the probability of all candidates among them and the
readings of :mod:`kg.calculations.aggregates`. Other questions keep what the search found.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from kg.arrays import log_softmax
from kg.calculations.aggregates import Aggregates
from kg.calculations.asked_aggregates import read_aggregates
from kg.calculations.choices import AGGREGATE_FEATURES
from kg.calculations.ranking import Ranking
from kg.calculations.readings import Readings, executed, with_readings
from kg.calculations.space import DerivationSpace
from kg.search import merge_key

LEAST_FORM = 0.03
"""The least probability of the templates of a total or an average at which a question without a word for one counts."""

MOST_NEW = 6
"""Answers of aggregates that join the candidates at the most."""

_LEAST = -8.0
_SUPPORT, _UNSUPPORTED, _NAMES = (AGGREGATE_FEATURES.index(name) for name in ("support", "unsupported", "names"))
_FORMS = ("sum_of(A, A)", "average_of(A, A)", "share(A, A)")


def may_aggregate(space: DerivationSpace) -> bool:
    """Returns whether the question has a word for an aggregate, or the templates expect one."""
    asked = read_aggregates(space.question.questions[-1])
    if asked.functions or asked.count:
        return True
    places = [place for place, name in enumerate(space.scorer.forms.forms) if name in _FORMS]
    logs = space.form_log_probabilities[int(np.argmax(space.priors)), places]
    return bool(np.exp(logs).sum() >= LEAST_FORM)


def aggregate_answers(space: DerivationSpace, ranked: Ranking) -> Readings:
    """Returns the readings over groups, and after them the search's own candidates."""
    own = {merge_key(one.answer): one.score for one in ranked.candidates}
    names = [one.score for one in ranked.candidates if isinstance(one.answer, tuple)]
    share = float(np.exp(logsumexp(names))) if names else 0.0
    aggregates = Aggregates(space)
    answers, rows, new = executed(aggregates.all, aggregates.features, aggregates.derivation, aggregates.form_of)
    for answer, row in zip(answers, rows, strict=True):
        score = own.get(merge_key(answer))
        row[_SUPPORT] = max(score, _LEAST) / 3 if score is not None else _LEAST / 3
        row[_UNSUPPORTED] = float(score is None)
        row[_NAMES] = share
    for candidate in ranked.candidates:
        row = np.zeros(len(AGGREGATE_FEATURES), dtype=np.float32)
        row[_SUPPORT] = max(candidate.score, _LEAST) / 3
        answers.append(candidate.answer)
        rows.append(row)
        new.append(None)
    features = np.array(rows, dtype=np.float32).reshape(len(rows), len(AGGREGATE_FEATURES))
    return Readings(tuple(answers), features, tuple(new))


def with_aggregates(space: DerivationSpace, ranked: Ranking, top_k: int) -> Ranking:
    """Returns a ranking with aggregates; the same one if the question hardly asks for one."""
    model = space.scorer.aggregates
    if model is None or not ranked.candidates or not may_aggregate(space):
        return ranked
    found = aggregate_answers(space, ranked)
    if not any(found.new):
        return ranked
    logs = log_softmax(model.scores(found.features)) + logsumexp([one.score for one in ranked.candidates])
    return with_readings(space, ranked, found, logs, lambda _: True, MOST_NEW, top_k)
