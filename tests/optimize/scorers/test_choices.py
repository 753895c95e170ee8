"""The fit of a choice among readings."""

from __future__ import annotations

import numpy as np
import pytest

from kg.errors import DataError
from kg.scoring import NAMING_FEATURES, NamingModel
from optimize.scorers import ChoiceExample, fit_choice

SIZE, FORM = (NAMING_FEATURES.index(name) for name in ("size", "form"))


def examples(count: int = 200) -> list[ChoiceExample]:
    """Questions whose right reading is the longest line; ``form`` says nothing."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        features = np.zeros((5, len(NAMING_FEATURES)), dtype=np.float32)
        features[:, [SIZE, FORM]] = rng.normal(size=(5, 2))
        found.append(ChoiceExample(features, np.arange(5) == features[:, SIZE].argmax()))
    return found


def test_what_is_right_becomes_probable() -> None:
    model = fit_choice(NamingModel, examples(), fitted_on="here")
    assert model.weights["size"] > 3 * abs(model.weights["form"])
    right = [model.scores(one.features).argmax() == one.right.argmax() for one in examples()]
    assert np.mean(right) > 0.95
    assert model.fitted_on == "here"


def test_a_larger_penalty_stays_nearer_to_the_search() -> None:
    near, far = (fit_choice(NamingModel, examples(), penalty=penalty) for penalty in (1000.0, 0.1))
    assert abs(near.weights["size"]) < abs(far.weights["size"])
    assert near.weights["support"] == pytest.approx(3.0, abs=0.01)


def test_there_must_be_something_to_choose() -> None:
    one = examples(1)[0]
    with pytest.raises(DataError, match="right and wrong readings"):
        fit_choice(NamingModel, [ChoiceExample(one.features, np.zeros(5, dtype=bool))])


def test_weights_of_unknown_features_are_refused() -> None:
    with pytest.raises(DataError, match="no feature"):
        NamingModel.from_dict({"weights": {"colour": 1.0}, "fitted_on": ""})
