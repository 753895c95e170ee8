"""The fit of the model that decides whether a question is independent of the earlier ones.

>>> scorer = replace(scorer, standalone=fit_standalone(turns))

The first question of a conversation is independent, and two thirds of the later ones are follow-ups. The single
questions of FinQA, of which a page has several, are first ones. No search takes part, so that it is fitted before any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from kg.calculations import feature_matrix, standalone_features
from kg.logistic import BIAS, LogisticModel
from optimize.fitting import fit_logistic
from optimize.scorers.derivations import TrainingTurn

LEAST_QUESTIONS, PENALTY = 20, 1.5
"""Questions in which a word must occur for a weight of its own, and the L2 penalty of each weight."""


def fit_standalone(turns: Sequence[TrainingTurn]) -> LogisticModel | None:
    """Returns the model, fitted on turns with reports; ``None`` where all are first turns, or none is."""
    known = [turn for turn in turns if turn.has_report and turn.weight == 1]
    is_first = np.array([not turn.history for turn in known], dtype=bool)
    if is_first.all() or not is_first.any():
        return None
    rows = [{BIAS: 1.0} | standalone_features(turn.index, turn.questions[-1]) for turn in known]
    counts = Counter(name for row in rows for name in row)
    names = [name for name, count in counts.items() if count >= LEAST_QUESTIONS]
    penalty = [PENALTY * (name != BIAS) for name in names]
    weights = fit_logistic(feature_matrix(rows, names), is_first, penalty=penalty).tolist()
    return LogisticModel(dict(zip(names, weights, strict=True)))
