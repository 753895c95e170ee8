"""The final ranking of a question's candidates: one linear model over every feature of a candidate.

Candidates are the calculations that the beam completed, and comparisons over whole lines of a table. The score of the
network, what the encoder reads, and what a comparison looks like are the columns of one matrix::

    >>> ranker.scores(features)
    array([-1.2, 3.4], dtype=float32)

Fitted by :mod:`optimize.encoders.held_out` on reports that neither the network nor the encoder was fitted on.
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
    "name", "expected", "demanded",
    "form", "first", "second", "timed_asked", "timed_unasked", "untimed_asked", "named",
    "named_share", "section", "part", "fixed_words", "fixed_agreement", "other_words", "year_fits",
    "latest", "across", "size", "spread", "difference", "change", "bounded", "unbounded", "signed", "structural",
    "unsupported", "total", "looked_up", "weakest", "years_unused",
    "length_fits", "length_differs", "demands", "closing", "options",
    "largest_below", "smallest_below", "falls_largest", "falls_below", "plural_one",
    "plural_several", "several", "date", "date_extreme", "date_sentence", "date_near",
)  # fmt: skip
"""The features of a candidate whose answer is a name; they are 0 for numbers."""

FINAL_FEATURES = ("ranker", *(f"read_{name}" for name in MORE_JOINT), *NAME_FEATURES)
"""The features of a candidate: the network's score, what the encoder reads, and those of names."""


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
