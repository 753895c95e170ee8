"""Tests of the merging of equal answers."""

from __future__ import annotations

import numpy as np
import pytest

from kg.search.merging import merge


def test_probabilities_of_equal_answers_are_added() -> None:
    found = merge(np.array([0, 1, 0, 3]), np.log([0.5, 0.2, 0.25, 0.05]))
    assert np.exp(found) == pytest.approx([0.75, 0.2, 0.0, 0.05])
    assert found[2] == -np.inf, "a group without elements has no probability"
