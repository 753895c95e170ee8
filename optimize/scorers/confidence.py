"""Fitting the confidence of a search: whether a report answers a question, and the best candidate is the answer.

    >>> model = fit_confidence(features, right, least_right=0.3)
    >>> model.judge(features[0])
    0.88

A logistic regression by maximum likelihood with an L2 penalty. It is the confidence that is shown, and a turn abstains
below ``least_right``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kg.calculations import CONFIDENCE_FEATURES, ConfidenceModel, feature_matrix
from kg.errors import DataError
from kg.logistic import BIAS, LogisticModel
from optimize.fitting import fit_logistic

PENALTY = 1.0
"""Of the squared weights."""


def fit_confidence(
    features: Sequence[Mapping[str, float]], right: Sequence[bool], *, least_right: float, fitted_on: str = ""
) -> ConfidenceModel:
    """Returns the model.

    Args:
        features: Of turns about reports that the search was not fitted on; some are not answered by their report.
        right: Whether the best candidate of each turn is its gold answer.
        least_right: The probability in [0, 1] below which a turn abstains.
        fitted_on: Description of the data, kept with the weights.

    Raises:
        DataError: All turns are right, or none is.
    """
    if all(right) or not any(right):
        raise DataError("confidence must be fitted on turns that the search answers, and turns that it does not")
    matrix = feature_matrix(features, CONFIDENCE_FEATURES).astype(np.float64)
    rows = np.concatenate([np.ones((len(matrix), 1)), matrix], axis=1)
    weights = fit_logistic(rows, right, penalty=[0.0, *[PENALTY] * matrix.shape[1]]).tolist()
    model = LogisticModel(dict(zip((BIAS, *CONFIDENCE_FEATURES), weights, strict=True)))
    return ConfidenceModel(model, least_right, fitted_on)
