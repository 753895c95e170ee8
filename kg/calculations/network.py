"""A small network that scores the alternatives of a choice, in NumPy.

Every alternative of a choice (a figure, a candidate) is a row of features; what they have in common (the question, the
role to be filled) is one row of group features. One hidden layer joins the two, a linear part runs beside it::

    score = relu(rows W + group U + b) v + rows s + pairs · (group M)

The scores of one choice become log-probabilities by a softmax over its alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from kg.arrays import FloatArray


@dataclass(frozen=True)
class ChoiceNetwork:
    """Weights of one network.

    Attributes:
        rows_in: ``W``, row features by hidden units.
        group_in: ``U``, group features by hidden units.
        bias: ``b``, one a hidden unit.
        out: ``v``, one a hidden unit.
        skip: ``s``, one a row feature.
        pairs: ``M``, group features by pair features (no columns where there are none).
    """

    rows_in: FloatArray
    group_in: FloatArray
    bias: FloatArray
    out: FloatArray
    skip: FloatArray
    pairs: FloatArray

    @classmethod
    def linear(cls, skip: FloatArray, groups: int, pairs: int) -> ChoiceNetwork:
        """A network without hidden units: the scores are ``rows`` times ``skip``."""
        return cls(
            rows_in=np.zeros((len(skip), 0), dtype=np.float32),
            group_in=np.zeros((groups, 0), dtype=np.float32),
            bias=np.zeros(0, dtype=np.float32),
            out=np.zeros(0, dtype=np.float32),
            skip=skip,
            pairs=np.zeros((groups, pairs), dtype=np.float32),
        )

    def scores(self, rows: FloatArray, groups: FloatArray) -> FloatArray:
        """Scores of the same rows under several groups.

        Args:
            rows: Shape ``(alternatives, row features)``.
            groups: Shape ``(groups, group features)``.

        Returns:
            Shape ``(groups, alternatives)``; a linear pair part is added by the caller, from :meth:`pair_weights`.
        """
        return self.scores_of(self.prepared(rows), groups)

    def prepared(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Returns what no group changes: the rows' part of the hidden layer, and the linear part."""
        return rows @ self.rows_in + self.bias, rows @ self.skip

    def scores_of(self, prepared: tuple[FloatArray, FloatArray], groups: FloatArray) -> FloatArray:
        """Returns :meth:`scores` of rows that :meth:`prepared` has read."""
        own, linear = prepared
        hidden = own[None, :, :] + (groups @ self.group_in)[:, None, :]
        np.maximum(hidden, 0.0, out=hidden)
        result: FloatArray = hidden @ self.out + linear[None, :]
        return result

    def pair_weights(self, groups: FloatArray) -> FloatArray:
        """The weights of the pair features under each group; shape ``(groups, pair features)``."""
        result: FloatArray = groups @ self.pairs
        return result

    @classmethod
    def mean(cls, networks: Sequence[ChoiceNetwork]) -> ChoiceNetwork:
        """One network whose scores are the mean of several: their hidden units side by side."""
        share = np.float32(1 / len(networks))
        return cls(
            rows_in=np.concatenate([network.rows_in for network in networks], axis=1),
            group_in=np.concatenate([network.group_in for network in networks], axis=1),
            bias=np.concatenate([network.bias for network in networks]),
            out=np.concatenate([network.out for network in networks]) * share,
            skip=np.mean([network.skip for network in networks], axis=0, dtype=np.float32),
            pairs=np.mean([network.pairs for network in networks], axis=0, dtype=np.float32),
        )

    def to_dict(self) -> dict[str, list[object]]:
        """The weights as nested lists, rounded to four significant digits."""
        return {field.name: _rounded(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_dict(cls, record: Mapping[str, list[object]]) -> ChoiceNetwork:
        """Reads what :meth:`to_dict` wrote."""
        return cls(**{field.name: np.asarray(record[field.name], dtype=np.float32) for field in fields(cls)})


def _rounded(array: FloatArray) -> list[object]:
    if array.ndim > 1:
        return [_rounded(row) for row in array]
    return [float(f"{value:.4g}") for value in array]
