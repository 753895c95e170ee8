"""Fitting a choice among the readings of questions: among names, or among aggregates.

    >>> model = fit_choice(NamingModel, examples)
    >>> model.weights["form"]
    1.7

The right readings together become as probable as possible (conditional logit), with an L2 penalty on the distance from
the search's own choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kg.arrays import BoolArray, FloatArray
from kg.errors import DataError
from kg.scoring import LinearChoice
from optimize.logistic import fit_choices

ChoiceT = TypeVar("ChoiceT", bound=LinearChoice)

PENALTY = 0.5
OWN_SUPPORT = 3.0
"""The weight of the search's own log-probability (a third of it is the feature) to which the penalty draws."""


@dataclass(frozen=True)
class ChoiceExample:
    """A question with its readings.

    Attributes:
        features: Of each reading (:func:`kg.candidates.named_answers` and :func:`kg.candidates.aggregate_answers`).
        right: Whether each reading leads to the gold answer.
        weight: How much it counts.
    """

    features: FloatArray
    right: BoolArray
    weight: float = 1.0


def fit_choice(
    kind: type[ChoiceT], examples: Sequence[ChoiceExample], *, penalty: float = PENALTY, fitted_on: str = ""
) -> ChoiceT:
    """Returns the model.

    Args:
        kind: The choice.
        examples: Of reports that the search was not fitted on. Those without a right reading are left out.
        penalty: Of the squared distance of the weights from the search's own choice; larger than 0.
        fitted_on: Description of the data, kept with the weights.

    Raises:
        DataError: No example has a right reading.
    """
    used = [one for one in examples if one.right.any() and not one.right.all()]
    if not used:
        raise DataError("a choice must be fitted on questions with right and wrong readings")
    origin = np.zeros(len(kind.features))
    origin[kind.features.index("support")] = OWN_SUPPORT
    rows, right, weights = zip(*((one.features, one.right, one.weight) for one in used), strict=True)
    found = fit_choices(rows, right, penalty=penalty, weights=weights, start=origin)
    return kind(dict(zip(kind.features, found.tolist(), strict=True)), fitted_on)
