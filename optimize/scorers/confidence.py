"""Fitting the confidence of a search: whether a report answers a question, and whether the best candidate is right.

    >>> model = fit_confidence(examples, abstained_wrong=0.1)
    >>> model.judge(features)
    Confidence(answerable=0.97, right=0.88)

Two logistic regressions by maximum likelihood with an L2 penalty, which cross-validation over groups selects. The
second is fitted on answerable turns alone, which all count alike. At the threshold of abstention a given share of the
answerable questions abstains in cross-validation, on the average over the kinds that have a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kg.arrays import BoolArray, DoubleArray, IntArray
from kg.calculations import CONFIDENCE_FEATURES, ConfidenceModel, feature_matrix
from kg.errors import DataError
from kg.logistic import BIAS, LogisticModel
from optimize.fitting import fit_logistic, folds_of

PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0)
FOLDS = 10


@dataclass(frozen=True)
class ConfidenceExample:
    """A turn that a search answered.

    Attributes:
        group: What must not be split between folds: the report.
        features: See :func:`kg.calculations.confidence_features.confidence_features`.
        answerable: Whether the report answers the question.
        right: Whether the best candidate is the gold answer; false where the report does not answer.
        weight: How much it counts for the first model.
        kind: The kind of the question: kinds count alike for the threshold. An empty kind does not count if there are
            others.
    """

    group: str
    features: Mapping[str, float]
    answerable: bool
    right: bool
    weight: float = 1.0
    kind: str = ""


def fit_confidence(
    examples: Sequence[ConfidenceExample], *, abstained_wrong: float = 0.1, seed: int = 0, fitted_on: str = ""
) -> ConfidenceModel:
    """Returns the model.

    Args:
        examples: Of reports that the search was not fitted on, some answerable and some not.
        abstained_wrong: The share in (0, 1) of answerable turns that abstain, on the average over their kinds.
        seed: Of the folds.
        fitted_on: Description of the data, kept with the weights.

    Raises:
        DataError: All examples are answerable, or none is, or there are fewer than two groups.
    """
    labels = np.array([one.answerable for one in examples], dtype=bool)
    if labels.all() or not labels.any():
        raise DataError("confidence must be fitted on turns that the reports answer and turns that they do not")
    features = feature_matrix([one.features for one in examples], CONFIDENCE_FEATURES).astype(np.float64)
    weights = np.array([one.weight for one in examples])
    fold_of = folds_of([one.group for one in examples], FOLDS, seed)
    folds = np.array([fold_of[one.group] for one in examples])
    answerable, judged = _cross_validated(features, labels, weights, folds)
    is_right = np.array([one.right for one in examples], dtype=bool)
    right, _ = _cross_validated(features[labels], is_right[labels], np.ones(int(labels.sum())), folds[labels])
    kinds = [one.kind for one in examples if one.answerable]
    counted = [place for place, kind in enumerate(kinds) if kind or not any(kinds)]
    least = _threshold(judged[labels][counted], [kinds[place] for place in counted], abstained_wrong)
    return ConfidenceModel(_named(answerable), _named(right), least, fitted_on)


def _threshold(judged: DoubleArray, kinds: Sequence[str], abstained_wrong: float) -> float:
    """The largest probability below which at most the given share of turns is, on the average over their kinds."""
    counts = Counter(kinds)
    shares = np.array([1 / counts[kind] for kind in kinds]) / len(counts)
    order = np.argsort(judged, kind="stable")
    below = np.cumsum(shares[order]) - shares[order]
    return float(judged[order[np.flatnonzero(below <= abstained_wrong + 1e-9)[-1]]])


def _cross_validated(
    features: DoubleArray, labels: BoolArray, weights: DoubleArray, folds: IntArray
) -> tuple[DoubleArray, DoubleArray]:
    """The bias and weights with the best penalty in cross-validation, and the probabilities of its held-out parts."""
    rows = np.concatenate([np.ones((len(features), 1)), features], axis=1)

    def fit(inside: Any, penalty: float) -> DoubleArray:
        penalties = [0.0, *[penalty] * features.shape[1]]
        return fit_logistic(rows[inside], labels[inside], penalty=penalties, weights=weights[inside])

    def held_out(penalty: float) -> DoubleArray:
        judged = np.zeros(len(labels))
        for fold in np.unique(folds):
            logits = rows[folds == fold] @ fit(folds != fold, penalty)
            judged[folds == fold] = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        return judged

    def loss(judged: DoubleArray) -> float:
        own = np.where(labels, judged, 1 - judged)
        return -float((weights * np.log(np.maximum(own, 1e-9))).sum())

    judged, penalty = min(((held_out(penalty), penalty) for penalty in PENALTIES), key=lambda one: loss(one[0]))
    return fit(slice(None), penalty), judged


def _named(weights: DoubleArray) -> LogisticModel:
    return LogisticModel(dict(zip((BIAS, *CONFIDENCE_FEATURES), weights.tolist(), strict=True)))
