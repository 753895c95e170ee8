"""The names among a turn's candidates, chosen anew together with those of comparisons over whole lines.

The probability that the answer is a name stays what the search made it, except where a question demands a time. Where
the search found no name, it is that of the templates of names. Among the names it is shared out by the
:class:`~kg.calculations.choices.NamingModel`. Where a comparison over a whole line leads to a name, it becomes its
derivation.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from kg.arrays import log_softmax
from kg.calculations.choices import NAMING_FEATURES
from kg.calculations.comparisons import LineComparisons
from kg.calculations.lines import is_total
from kg.calculations.question_names import AskedNames
from kg.calculations.ranking import Ranking
from kg.calculations.readings import Readings, executed, with_readings
from kg.calculations.space import DerivationSpace
from kg.search import merge_key

LEAST_NAMES = 0.1
"""The least probability of all names together at which they are chosen anew."""

LEAST_TIMES = 0.9
"""The least probability of all names together where a question begins by asking for a time."""

MOST_EXPECTED = 0.99
"""The largest probability of all names together where the search found none."""

MOST_NEW = 6
"""Answers of comparisons that join the candidates at the most."""

_LEAST = -8.0
_SUPPORT, _UNSUPPORTED, _TOTAL, _CLOSING, _FITS, _DIFFERS, _DEMANDS, _STRUCTURAL = (
    NAMING_FEATURES.index(name)
    for name in (
        "support", "unsupported", "total", "closing", "length_fits", "length_differs", "demands", "structural"
    )
)  # fmt: skip
_PLURAL_ONE, _PLURAL_SEVERAL, _SEVERAL, _OTHER = map(
    NAMING_FEATURES.index, ("plural_one", "plural_several", "several", "other")
)


def named_answers(space: DerivationSpace, ranked: Ranking) -> Readings:
    """Returns the readings over whole lines, and after them the names among the candidates."""
    own = {merge_key(one.answer): one.score for one in ranked.candidates if isinstance(one.answer, tuple)}
    total = float(logsumexp(list(own.values()))) if own else 0.0
    comparisons = LineComparisons(space)
    answers, rows, new = executed(
        comparisons.all, comparisons.features, comparisons.derivation, lambda one: f"{one.template}(A, A)"
    )
    for candidate in ranked.candidates:
        if isinstance(candidate.answer, tuple):
            answers.append(candidate.answer)
            rows.append(np.zeros(len(NAMING_FEATURES), dtype=np.float32))
            new.append(None)
    features = np.array(rows, dtype=np.float32).reshape(len(rows), len(NAMING_FEATURES))
    asked = space.asked
    demanding = asked.rank > 1 or asked.every or asked.excepts or asked.bounds is not None
    closing = comparisons.table.closing_labels
    for row, answer in zip(features, answers, strict=True):
        score = own.get(merge_key(answer))
        row[_SUPPORT] = max(score - total, _LEAST) / 3 if score is not None else _LEAST / 3
        row[_UNSUPPORTED] = float(score is None)
        assert isinstance(answer, tuple)
        row[_TOTAL] = float(any(map(is_total, answer)))
        row[_CLOSING] = float(any(name in closing for name in answer))
        row[_FITS], row[_DIFFERS] = _length(space.asked, len(answer))
        row[_DEMANDS] = float(demanding and not row[_STRUCTURAL])
        plural = asked.plural and not asked.extreme and not asked.options
        row[_PLURAL_ONE] = float(plural and len(answer) == 1)
        row[_PLURAL_SEVERAL] = float(plural and len(answer) > 1)
        row[_SEVERAL] = float(len(answer) > 1)
        row[_OTHER] = float(any(name.lower().startswith("other") for name in answer))
    return Readings(tuple(answers), features, tuple(new))


def _length(asked: AskedNames, size: int) -> tuple[float, float]:
    """Whether the number of names is the one that is asked for, and whether it is another one."""
    if asked.count > 1 or asked.rank > 1:
        wanted = asked.count if asked.rank == 1 else 1
        return float(size == wanted), float(size != wanted)
    if asked.every:
        return float(size > 1), float(size == 1)
    return 0.0, 0.0


def _expected(space: DerivationSpace) -> float:
    """The probability of the templates of names, for a question whose templates found none."""
    places = [place for place, one in enumerate(space.scorer.parsed) if one.operation.startswith(("argmax", "argmin"))]
    logs = space.form_log_probabilities[int(np.argmax(space.priors)), places]
    return min(float(np.exp(logs).sum()), MOST_EXPECTED)


def with_comparisons(space: DerivationSpace, ranked: Ranking, top_k: int) -> Ranking:
    """Returns a ranking whose names are chosen anew; the same one if the answer is hardly a name."""
    model = space.scorer.naming
    names = [one.score for one in ranked.candidates if isinstance(one.answer, tuple)]
    before = min(float(np.exp(logsumexp(names))), 1.0) if names else 0.0
    share = before if names else _expected(space)
    share = max(share, LEAST_TIMES) if space.asked.demands_time else share
    if model is None or share < LEAST_NAMES:
        return ranked
    found = named_answers(space, ranked)
    if not found.answers:
        return ranked
    logs = log_softmax(model.scores(found.features)) + np.log(share)
    others = float(np.log((1 - share) / (1 - before))) if share > before else 0.0
    return with_readings(space, ranked, found, logs, lambda answer: isinstance(answer, tuple), MOST_NEW, top_k, others)
