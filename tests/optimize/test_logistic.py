"""Fits of log-linear models: the weights are those of the examples, drawn to where they start."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from optimize.fitting import fit_choices, fit_logistic


def test_a_logistic_regression_recovers_its_weights() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5000, 2))
    labels = rng.random(5000) < 1 / (1 + np.exp(-(2 * rows[:, 0] - rows[:, 1])))
    found = fit_logistic(rows, labels, penalty=0.0)
    assert found == pytest.approx([2, -1], abs=0.15)
    assert fit_logistic(csr_matrix(rows), labels, penalty=0.0) == pytest.approx(found, abs=1e-3)
    assert fit_logistic(rows, labels, penalty=[0.0, 1e6]) == pytest.approx([1.8, 0], abs=0.2)


def test_examples_count_by_their_weights() -> None:
    rows, labels = np.ones((3, 1)), [True, False, False]
    odds = fit_logistic(rows, labels, penalty=0.0, weights=np.array([6.0, 1.0, 1.0]))
    assert odds == pytest.approx([np.log(3)], abs=1e-3)


def test_the_right_alternatives_become_most_probable() -> None:
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(4, 2)) for _ in range(400)]
    right = [np.arange(4) == table[:, 0].argmax() for table in rows]
    first, second = fit_choices(rows, right, penalty=1e-3)
    assert first > 5
    assert abs(second) < first / 10
    either = [table[:, 0] >= np.sort(table[:, 0])[-2] for table in rows]
    assert fit_choices(rows, either, penalty=1e-3)[0] > 1, "two right alternatives need not be told apart"
    assert fit_choices(rows, right, penalty=1e6, start=[0.0, 3.0]) == pytest.approx([0, 3], abs=0.01)
    assert fit_choices(rows, right, penalty=1e-3, bounds=[(0.0, 1.0), (0.0, None)])[0] == pytest.approx(1)
