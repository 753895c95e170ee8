"""The log-linear models that the fits share, and folds.

>>> fit_logistic(rows, labels, penalty=1.0)
array([ 0.4, -1.2])
>>> fit_choices([rows_of_a_choice], [right], penalty=1.0)
array([ 0.7,  0.1])

Both fits are by SciPy's L-BFGS, with an L2 penalty: ``penalty`` times the squared distance of each weight from where it
starts, which is 0 by default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kg.arrays import DoubleArray
from kg.errors import DataError


def folds_of(groups: Sequence[str], folds: int, seed: int) -> dict[str, int]:
    """Returns the fold of each group, drawn at random.

    Raises:
        DataError: There are fewer than two groups.
    """
    names = sorted(set(groups))
    if len(names) < 2:
        raise DataError("weights must be fitted on turns of at least two reports")
    order = np.random.default_rng(seed).permutation(len(names))
    return {names[place]: number % folds for number, place in enumerate(order)}


def fit_logistic(
    rows: Any,
    labels: Any,
    *,
    penalty: float | Sequence[float],
    weights: Any = 1.0,
) -> DoubleArray:
    """Returns the weights of a logistic regression.

    Args:
        rows: The features, shape ``(examples, features)``, dense or sparse.
        labels: Whether each example is positive.
        penalty: Of all weights, or of each.
        weights: How much each example counts.
    """
    origin = np.zeros(rows.shape[1])
    penalties = np.broadcast_to(np.asarray(penalty, dtype=float), origin.shape)
    labels = np.asarray(labels, dtype=bool)

    def loss(found: DoubleArray) -> tuple[float, DoubleArray]:
        logits = rows @ found
        error = weights * (1 / (1 + np.exp(-np.clip(logits, -30, 30))) - labels)
        own = weights * np.logaddexp(0, np.where(labels, -logits, logits))
        return float(own.sum() + penalties @ found**2), rows.T @ error + 2 * penalties * found

    return _minimum(loss, origin)


def fit_choices(
    rows: Sequence[Any],
    right: Sequence[Any],
    *,
    penalty: float | Sequence[float],
    start: Any = None,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> DoubleArray:
    """Returns the weights under which the right alternatives of each choice are most probable together.

    Args:
        rows: The features of the alternatives of each choice.
        right: How right each alternative is, in [0, 1].
        penalty: Of all weights, or of each.
        start: The weights to begin with; 0 by default.
        bounds: The least and largest value of each weight.
    """
    sizes = [len(own) for own in rows]
    table, target = np.concatenate(rows).astype(np.float64), np.concatenate(right)
    starts, owner = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(sizes)), sizes)
    origin = np.zeros(table.shape[1]) if start is None else np.asarray(start, dtype=float)
    penalties = np.broadcast_to(np.asarray(penalty, dtype=float), origin.shape)

    def loss(found: DoubleArray) -> tuple[float, DoubleArray]:
        scores, moved = table @ found, found - origin
        shares = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        shares /= np.add.reduceat(shares, starts)[owner]
        good = shares * target
        totals = np.maximum(np.add.reduceat(good, starts), 1e-12)
        value = -float(np.log(totals).sum()) + float(penalties @ moved**2)
        return value, table.T @ (shares - good / totals[owner]) + 2 * penalties * moved

    return _minimum(loss, origin, bounds)


def _minimum(
    loss: Callable[[DoubleArray], tuple[float, DoubleArray]],
    origin: DoubleArray,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> DoubleArray:
    from scipy.optimize import minimize  # takes long to import

    result: DoubleArray = minimize(loss, origin, jac=True, method="L-BFGS-B", bounds=bounds).x
    return result
