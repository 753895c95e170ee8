"""Abstention with a language model's evidence: whether the report answers a question that the model was asked about.

>>> abstention = Abstention({"bias": 0.4, "answerable": 0.9, "none": -0.2}, least=0.5)
>>> abstention.judge(answerable=0.7, none=-0.3)
0.73

A logistic regression over the search's own probability and the model's reply that the figures do not answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kg.errors import ConfigError

ABSTENTION_FEATURES = ("answerable", "none")
"""``answerable``: the log-odds of the search's probability that the report answers; ``none``: the log-odds of the
model's reply that it does not."""

_MOST = 8.0


@dataclass(frozen=True)
class Abstention:
    """The weights, and the probability below which a turn abstains.

    Attributes:
        weights: Of ``bias`` and of :data:`ABSTENTION_FEATURES`; those that are not named are 0.
        least: In [0, 1].
        fitted_on: Description of the data.
    """

    weights: Mapping[str, float]
    least: float
    fitted_on: str = ""

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.weights) - {"bias", *ABSTENTION_FEATURES}):
            raise ConfigError(
                f"weights of an abstention must be of bias, {', '.join(ABSTENTION_FEATURES)}; got {unknown[0]!r}"
            )

    def judge(self, answerable: float, none: float) -> float:
        """The probability in [0, 1] that the report answers.

        Args:
            answerable: The search's own probability in [0, 1].
            none: The natural logarithm of the model's probability that the figures do not answer.
        """
        values = dict(zip(ABSTENTION_FEATURES, abstention_features(answerable, none), strict=True))
        logit = self.weights.get("bias", 0.0) + sum(self.weights.get(name, 0.0) * one for name, one in values.items())
        return 1 / (1 + math.exp(-max(min(logit, 30.0), -30.0)))


def abstention_features(answerable: float, none: float) -> tuple[float, float]:
    """The features in the order of :data:`ABSTENTION_FEATURES`, both bounded."""
    return _log_odds(answerable), _log_odds(math.exp(min(none, 0.0)))


def _log_odds(probability: float) -> float:
    share = min(max(probability, 1e-9), 1 - 1e-9)
    return min(max(math.log(share / (1 - share)), -_MOST), _MOST)
