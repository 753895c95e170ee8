"""A logistic model over named features: how likely something is, from weights that ``optimize.fitting`` fits.

>>> model = LogisticModel({"bias": -1.0, "margin": 2.0})
>>> round(model.probability({"margin": 1.5}), 3)
0.881
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kg.errors import DataError

BIAS = "bias"
"""The name of the weight that counts in every case."""

_LARGEST = 30.0


@dataclass(frozen=True)
class LogisticModel:
    """The weights of a logistic model.

    Attributes:
        weights: Of each feature, and of :data:`BIAS`; 0 where one is missing.
    """

    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Returns a probability in (0, 1)."""
        own = self.weights.get(BIAS, 0.0) + sum(
            self.weights.get(name, 0.0) * float(value) for name, value in features.items()
        )
        return float(1.0 / (1.0 + np.exp(-min(max(own, -_LARGEST), _LARGEST))))

    def to_dict(self) -> dict[str, float]:
        """Returns the weights with four digits."""
        return {name: round(float(value), 4) for name, value in self.weights.items()}

    @classmethod
    def from_dict(cls, record: Any, features: Collection[str] | None = None) -> LogisticModel:
        """Reads what :meth:`to_dict` wrote.

        Args:
            record: The weights.
            features: The names that a weight may have, besides the bias; ``None`` for any.

        Raises:
            DataError: A weight is no finite number, or is of no feature.
        """
        try:
            weights = {str(name): float(value) for name, value in record.items()}
        except (TypeError, ValueError, AttributeError) as error:
            raise DataError(f"the weights of a logistic model cannot be read: {error!r}") from error
        known = weights if features is None else {*features, BIAS}
        wrong = next((name for name in weights if name not in known), None)
        if wrong is not None:
            raise DataError(f"a logistic model has a weight for {wrong!r}, which is no feature")
        if not np.isfinite(list(weights.values())).all():
            raise DataError("the weights of a logistic model must be finite")
        return cls(weights)
