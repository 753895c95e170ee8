"""The logarithm of softmax."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from kg.arrays import log_softmax


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "axis"), [((300,), -1), ((7, 41), -1), ((7, 41), 1), ((2, 3, 5), -1), ((1,), -1)])
def test_it_equals_scipy_to_the_last_bit(kind: type, shape: tuple[int, ...], axis: int) -> None:
    scores = np.random.default_rng(0).normal(scale=20, size=shape).astype(kind)
    found = log_softmax(scores, axis=axis)
    assert found.dtype == kind
    assert np.array_equal(found, scipy.special.log_softmax(scores, axis=axis))
    assert np.exp(found).sum(axis=axis) == pytest.approx(1, abs=1e-5)
