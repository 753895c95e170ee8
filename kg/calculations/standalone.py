"""The features by which a model decides whether a question of a conversation stands alone.

    >>> model.probability(standalone_features(index, "what was goodwill in 2025?"))
    0.64
    >>> model.probability(standalone_features(index, "and in 2024?"))
    0.01

They are the question's words, and how the report knows them. The logistic model over them is fitted by
:mod:`optimize.scorers.standalone` on the first and the later questions of training conversations.
"""

from __future__ import annotations

import numpy as np

from kg.calculations.forms import question_words
from kg.calculations.report_index import ReportIndex
from kg.text import content_tokens, years

LEAST_ALONE = 0.6
"""The probability from which a question is read alone.

On 1,893 turns of held-out training conversations it costs 0.4 points; 0.5 costs 0.7.
"""


def words_in_report(index: ReportIndex, question: str) -> dict[str, float]:
    """Returns features of the order of 1: the question's words and years, and which of them the report has."""
    words = list(dict.fromkeys(content_tokens(question)))
    weights = np.array([index.idf(word) for word in words])
    unknown = np.array([word not in index.vocabulary for word in words], dtype=bool)
    asked = years(question)
    return {
        "unknown_words": float(weights[unknown].sum() / weights.sum()) if words else 0.0,
        "rarest_unknown": float(weights[unknown].max(initial=0.0)) / 8,
        "unknown_years": float(not set(asked) <= set(index.period.tolist())),
        "words": min(len(words), 12) / 6,
        "known_words": float(weights[~unknown].sum()) / 20,
        "rarest_known": float(weights[~unknown].max(initial=0.0)) / 8,
        "years": float(bool(asked)),
        "length": len(question.split()) / 10,
    }


def standalone_features(index: ReportIndex, question: str) -> dict[str, float]:
    """Returns the features of a question by name, each of its words among them."""
    return words_in_report(index, question) | {f"word:{word}": 1.0 for word in question_words(question)}
