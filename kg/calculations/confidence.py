"""The probability that a report answers a question, and that the best candidate is right.

Two logistic models over the result of a search: how far it prefers its best candidate, how well that explains the
question's words and years, and how near the words come that the encoder listens to::

    >>> model.judge(confidence_features(found))
    Confidence(answerable=0.98, right=0.91)

Fitted by :mod:`optimize.scorers.confidence` on reports that the search has not seen, with questions that they answer
and questions that they do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kg.arrays import FloatArray
from kg.errors import DataError

CONFIDENCE_FEATURES = (
    "best", "margin", "rest", "entropy", "near_words", "all_words", "years_used", "unknown_words", "rarest_unknown",
    "unknown_years", "form", "form_margin", "pointed", "coverage", "least_coverage", "figures", "is_look_up",
    "is_series", "uses_answer", "first_turn", "earlier", "words",
    "ranker_share", "encoder_share", "is_name",
    "elsewhere", "rarest_elsewhere", "years_asked", "year_missed", "year_undated", "year_beside",
)  # fmt: skip
"""The features of a search's result (:mod:`kg.calculations.confidence_features`)."""

_FORMER = frozenset(("coverage_anywhere", "least_coverage_anywhere"))
"""Features of earlier versions, without gain; saved weights of them are left out."""


@dataclass(frozen=True)
class Confidence:
    """Probabilities in [0, 1].

    Attributes:
        answerable: That the report answers the question.
        right: That the best candidate is the answer, of a question that the report answers.
    """

    answerable: float
    right: float


@dataclass(frozen=True)
class ConfidenceModel:
    """The weights of both models, and the threshold of abstention.

    Attributes:
        answerable: The weight of each feature, and of ``bias``.
        right: The same for the best candidate.
        least_answerable: The program abstains below this probability.
        fitted_on: Description of the data.
    """

    answerable: Mapping[str, float]
    right: Mapping[str, float]
    least_answerable: float
    fitted_on: str = ""

    def judge(self, features: FloatArray) -> Confidence:
        """Returns the probabilities for :func:`confidence_features`; the second is at most the first."""
        answerable = _probability(self.answerable, features)
        return Confidence(answerable, min(_probability(self.right, features), answerable))

    def to_dict(self) -> dict[str, Any]:
        """Returns the weights with four digits."""
        return {
            "answerable": {name: round(float(value), 4) for name, value in self.answerable.items()},
            "right": {name: round(float(value), 4) for name, value in self.right.items()},
            "least_answerable": round(self.least_answerable, 4),
            "fitted_on": self.fitted_on,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> ConfidenceModel:
        """Reads what :meth:`to_dict` wrote.

        Raises:
            DataError: A part is missing, or a weight is of no feature.
        """
        try:
            parts = [
                {str(k): float(v) for k, v in record[name].items() if k not in _FORMER}
                for name in ("answerable", "right")
            ]
            model = cls(parts[0], parts[1], float(record["least_answerable"]), str(record["fitted_on"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"the scorer's confidence cannot be read: {error!r}") from error
        unknown = sorted({*model.answerable, *model.right} - {"bias", *CONFIDENCE_FEATURES})
        if unknown:
            raise DataError(f"the scorer's confidence has a weight for {unknown[0]!r}, which is no feature")
        return model


def _probability(weights: Mapping[str, float], features: FloatArray) -> float:
    logit = weights.get("bias", 0.0) + float(
        features @ np.array([weights.get(name, 0.0) for name in CONFIDENCE_FEATURES])
    )
    return float(1.0 / (1.0 + np.exp(-np.clip(logit, -30, 30))))
