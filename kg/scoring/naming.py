"""The choice among the names that a question may ask for.

A linear model over the features of each comparison (:mod:`kg.candidates.comparisons`) and over what the search itself
thinks of the same names::

    >>> model.scores(comparisons.features)
    array([-1.2, 3.4], dtype=float32)

Fitted by :mod:`optimize.scorers.naming` on reports that the search has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kg.arrays import FloatArray
from kg.errors import DataError

NAMING_FEATURES = (
    "form", "first", "second", "timed_asked", "timed_unasked", "untimed_asked", "named", "named_either",
    "named_share", "section", "part", "fixed_words", "fixed_agreement", "other_words", "year_fits", "year_differs",
    "latest", "across", "size", "spread", "difference", "change", "bounded", "unbounded", "signed", "structural",
    "support", "unsupported", "total",
)  # fmt: skip
"""The features of a comparison; ``support`` is the log-probability that the search gives to the same names."""


@dataclass(frozen=True)
class NamingModel:
    """The weights.

    Attributes:
        weights: Of each feature.
        fitted_on: Description of the data.
    """

    weights: Mapping[str, float]
    fitted_on: str = ""

    def scores(self, features: FloatArray) -> FloatArray:
        """Returns the unnormalised log-probability of each row of features."""
        weights = np.array([self.weights.get(name, 0.0) for name in NAMING_FEATURES], dtype=np.float32)
        result: FloatArray = features @ weights
        return result

    def to_dict(self) -> dict[str, Any]:
        """Returns the weights with four digits."""
        weights = {name: round(float(value), 4) for name, value in self.weights.items()}
        return {"weights": weights, "fitted_on": self.fitted_on}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> NamingModel:
        """Reads what :meth:`to_dict` wrote.

        Raises:
            DataError: A part is missing, or a weight is of no feature.
        """
        try:
            weights = {str(name): float(value) for name, value in record["weights"].items()}
            model = cls(weights, str(record["fitted_on"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"the scorer's naming cannot be read: {error!r}") from error
        unknown = sorted(set(model.weights) - set(NAMING_FEATURES))
        if unknown:
            raise DataError(f"the scorer's naming has a weight for {unknown[0]!r}, which is no feature")
        return model
