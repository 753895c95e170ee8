"""The fit of the abstention with a language model's evidence, on questions with and without an answer.

>>> fitted = fit_abstention(examples, seed=0)
>>> fitted.abstention.judge(answerable=0.7, none=-0.3)
0.73
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kg.arrays import BoolArray, DoubleArray
from kg.errors import DataError
from optimize.scorers import fit_logistic, folds_of, threshold
from programs.evidence import ABSTENTION_FEATURES, Abstention, abstention_features

ABSTAINED_WRONG = 0.1
"""The share of the answerable questions that abstain where the threshold is selected."""


@dataclass(frozen=True)
class AbstentionExample:
    """A question that the model was asked about.

    Attributes:
        group: What must not be split between folds: the report.
        is_answerable: Whether the report answers it.
        answerable: The search's own probability in [0, 1] that it does.
        none: The natural logarithm of the model's probability that the figures do not answer.
    """

    group: str
    is_answerable: bool
    answerable: float
    none: float


@dataclass(frozen=True)
class FittedAbstention:
    """The result of the cross-validation.

    Attributes:
        abstention: The weights, fitted on all examples.
        loss: The mean loss of the cross-validated probabilities.
        groups: The group of each example.
        labels: Whether each is answerable.
        judged: The cross-validated probability of each.
    """

    abstention: Abstention
    loss: float
    groups: tuple[str, ...]
    labels: BoolArray
    judged: DoubleArray

    def recognised(self, abstained_wrong: float) -> tuple[list[float], list[str]]:
        """Whether each unanswerable question abstains where a share of the answerable ones does, and their groups."""
        least = _least(self.judged[self.labels], abstained_wrong)
        without = np.flatnonzero(~self.labels)
        return [float(self.judged[place] < least) for place in without], [self.groups[place] for place in without]


def fit_abstention(
    examples: Sequence[AbstentionExample],
    *,
    parts: Sequence[str] = ABSTENTION_FEATURES,
    seed: int = 0,
    abstained_wrong: float = ABSTAINED_WRONG,
    description: str = "",
) -> FittedAbstention:
    """Fits the weights; the threshold and the figures are cross-validated over the groups.

    Args:
        examples: Of reports that the search was not fitted on.
        parts: The features that are used.
        seed: Of the folds.
        abstained_wrong: Share in (0, 1) of the answerable questions that abstain.
        description: Of the data, kept with the weights.

    Raises:
        DataError: All questions are answerable, or none is, or there are fewer than two groups.
    """
    labels = np.array([one.is_answerable for one in examples], dtype=bool)
    if labels.all() or not labels.any():
        raise DataError("abstention must be fitted on questions with and without an answer")
    columns = [ABSTENTION_FEATURES.index(part) for part in parts]
    features = np.array([abstention_features(one.answerable, one.none) for one in examples])[:, columns]
    groups = tuple(one.group for one in examples)
    # Both kinds count alike: how many of each there are says nothing of what will be asked.
    weights = np.where(labels, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    found, judged = fit_logistic(features, labels, weights, folds_of(groups, seed))
    own = np.where(labels, judged, 1 - judged)
    least = _least(judged[labels], abstained_wrong)
    named = {name: round(float(value), 4) for name, value in zip(("bias", *parts), found, strict=True)}
    abstention = Abstention(named, round(least, 4), description)
    return FittedAbstention(
        abstention, float(-(weights * np.log(np.maximum(own, 1e-9))).mean()), groups, labels, judged
    )


def _least(judged: DoubleArray, abstained_wrong: float) -> float:
    return threshold(judged, [""] * len(judged), abstained_wrong)
