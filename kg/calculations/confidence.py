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

from kg.logistic import LogisticModel

CONFIDENCE_FEATURES = (
    "best", "margin", "rest", "entropy", "near_words", "years_used", "unknown_words", "rarest_unknown",
    "unknown_years", "form_margin", "pointed", "coverage", "least_coverage", "figures", "is_look_up",
    "is_series", "uses_answer", "first_turn", "earlier", "words",
    "ranker_share", "encoder_share", "is_name",
    "elsewhere", "years_asked", "year_missed",
)  # fmt: skip
"""The features of a search's result (:mod:`kg.calculations.confidence_features`), of the order of 1."""

_MODELS = ("answerable", "right")


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
    """Both models, and the threshold of abstention.

    Attributes:
        answerable: Whether the report answers.
        right: Whether the best candidate is right.
        least_answerable: The program abstains below this probability.
        fitted_on: Description of the data.
    """

    answerable: LogisticModel
    right: LogisticModel
    least_answerable: float
    fitted_on: str = ""

    def judge(self, features: Mapping[str, float]) -> Confidence:
        """Returns the probabilities for :func:`confidence_features`; the second is at most the first."""
        answerable = self.answerable.probability(features)
        return Confidence(answerable, min(self.right.probability(features), answerable))

    def to_dict(self) -> dict[str, Any]:
        """Returns the weights with four digits."""
        return {
            **{name: getattr(self, name).to_dict() for name in _MODELS},
            "least_answerable": round(self.least_answerable, 4),
            "fitted_on": self.fitted_on,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> ConfidenceModel:
        """Reads what :meth:`to_dict` wrote.

        Raises:
            DataError: A weight is no number, or of no feature.
            KeyError: A part is missing.
        """
        answerable, right = (LogisticModel.from_dict(record[name], CONFIDENCE_FEATURES) for name in _MODELS)
        return cls(answerable, right, float(record["least_answerable"]), str(record["fitted_on"]))
