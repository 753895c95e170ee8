"""The linear models of a search's candidates: their final ranking, and the confidence in the best one.

Candidates are the calculations that the beam completed, and comparisons over whole lines of a table. The score of the
network, what the encoder reads, and what a comparison looks like are the columns of one matrix. A logistic model
then judges the result: how far the search prefers its best candidate, how well that explains the question's words and
years, and how near the words come that the encoder listens to::

    >>> ranker.scores(features)
    array([-1.2, 3.4], dtype=float32)
    >>> model.judge(confidence_features(found))
    0.91

Both are fitted by :mod:`optimize.encoders.held_out` on reports that neither the network nor the encoder was fitted on,
with questions that they answer and questions that they do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kg.arrays import FloatArray
from kg.calculations.pointers import MORE_JOINT
from kg.logistic import LogisticModel

NAME_FEATURES = (
    "name", "expected",
    "form", "first", "second", "timed_asked", "timed_unasked", "untimed_asked", "named",
    "fixed_words", "other_words", "year_fits", "across", "size", "spread", "difference", "change",
    "unsupported", "looked_up", "weakest",
    "length_fits", "length_differs", "options",
    "several", "date", "date_extreme", "date_sentence", "date_near",
)  # fmt: skip
"""The features of a candidate whose answer is a name; they are 0 for numbers."""

FINAL_FEATURES = ("ranker", *(f"read_{name}" for name in MORE_JOINT), *NAME_FEATURES)
"""The features of a candidate: the network's score, what the encoder reads, and those of names."""

SEARCH_FEATURES = (
    "best", "margin", "rest", "entropy", "unknown_years", "form_margin", "coverage", "least_coverage", "is_look_up",
    "signs_mixed", "first_turn", "earlier", "words", "year_missed", "unexplained", "label_unsaid",
)  # fmt: skip
"""The features of a search's result (:mod:`kg.calculations.confidence_features`), of the order of 1."""

CONFIDENCE_FEATURES = (*SEARCH_FEATURES, "small", *(f"small_{name}" for name in SEARCH_FEATURES))
"""The same, how small the page is, and the product of both: few rivals make a wrong figure look sure."""


def feature_matrix(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> FloatArray:
    """Returns named features as rows of numbers, 0 where a feature is missing; shape ``(rows, names)``."""
    columns = [[row.get(name, 0.0) for name in names] for row in rows]
    return np.array(columns, dtype=np.float32).reshape(len(rows), len(names))


@dataclass(frozen=True)
class FinalRanker:
    """The weights of the final ranking.

    Attributes:
        weights: Of each of :data:`FINAL_FEATURES`; 0 where one is missing.
        fitted_on: Description of the data.
    """

    weights: Mapping[str, float]
    fitted_on: str = ""

    def scores(self, features: FloatArray) -> FloatArray:
        """Returns the unnormalised log-probability of each row of features."""
        weights = np.array([self.weights.get(name, 0.0) for name in FINAL_FEATURES], dtype=np.float32)
        result: FloatArray = features @ weights
        return result

    def to_dict(self) -> dict[str, Any]:
        """Returns the weights with four digits."""
        return {"weights": LogisticModel(self.weights).to_dict(), "fitted_on": self.fitted_on}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> FinalRanker:
        """Reads what :meth:`to_dict` wrote.

        Raises:
            DataError: A weight is no number, or of no feature.
            KeyError: A part is missing.
        """
        return cls(LogisticModel.from_dict(record["weights"], FINAL_FEATURES).weights, str(record["fitted_on"]))


@dataclass(frozen=True)
class ConfidenceModel:
    """The confidence in the best candidate, and the threshold of abstention.

    Attributes:
        right: Whether the report answers, and the best candidate is the answer.
        least_right: The program abstains below this probability.
        fitted_on: Description of the data.
    """

    right: LogisticModel
    least_right: float
    fitted_on: str = ""

    def judge(self, features: Mapping[str, float]) -> float:
        """Returns the probability in [0, 1] for :func:`confidence_features`."""
        return self.right.probability(features)

    def to_dict(self) -> dict[str, Any]:
        """Returns the weights with four digits."""
        return {
            "right": self.right.to_dict(),
            "least_right": round(self.least_right, 4),
            "fitted_on": self.fitted_on,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> ConfidenceModel:
        """Reads what :meth:`to_dict` wrote; raises as :meth:`FinalRanker.from_dict` does."""
        right = LogisticModel.from_dict(record["right"], CONFIDENCE_FEATURES)
        return cls(right, float(record["least_right"]), str(record["fitted_on"]))
