"""The calibrated confidence and its fit."""

from __future__ import annotations

import numpy as np
import pytest

from kg.calculations.linear_models import CONFIDENCE_FEATURES, ConfidenceModel
from kg.errors import DataError
from optimize.scorers.confidence import ConfidenceExample, fit_confidence


def examples(count: int = 400) -> list[ConfidenceExample]:
    """Turns whose first feature says whether they are answerable, and whose second whether they are right."""
    rng = np.random.default_rng(0)
    found = []
    for place in range(count):
        first, second = rng.normal(size=2)
        features = {CONFIDENCE_FEATURES[0]: float(first), CONFIDENCE_FEATURES[1]: float(second)}
        answerable = bool(rng.random() < 1 / (1 + np.exp(-4 * first)))
        right = answerable and bool(rng.random() < 1 / (1 + np.exp(-4 * second)))
        found.append(ConfidenceExample(f"report {place % 40}", features, answerable, right))
    return found


def test_the_share_of_wrong_abstentions_is_kept() -> None:
    known = examples()
    model = fit_confidence(known, abstained_wrong=0.1)
    judged = [model.judge(one.features) for one in known]
    abstains = np.array([one.answerable < model.least_answerable for one in judged])
    answerable = np.array([one.answerable for one in known])
    assert 0.05 < abstains[answerable].mean() < 0.15
    assert abstains[~answerable].mean() > 0.5
    assert all(one.right <= one.answerable for one in judged)


def test_the_confidence_is_calibrated() -> None:
    known = examples(2000)
    model = fit_confidence(known)
    sure = np.array([model.judge(one.features).right for one in known])
    right = np.array([one.right for one in known])
    for low in (0.0, 0.25, 0.5, 0.75):
        part = (sure >= low) & (sure < low + 0.25)
        assert abs(sure[part].mean() - right[part].mean()) < 0.1


def test_it_is_saved_and_read() -> None:
    model = fit_confidence(examples(), fitted_on="here")
    again = ConfidenceModel.from_dict(model.to_dict())
    features = dict.fromkeys(CONFIDENCE_FEATURES, 1.0)
    assert again.judge(features).right == pytest.approx(model.judge(features).right, abs=1e-3)
    assert again.fitted_on == "here"
    with pytest.raises(DataError, match="'colour', which is no feature"):
        ConfidenceModel.from_dict({**model.to_dict(), "right": {"colour": 1.0}})


def test_it_needs_both_kinds_of_turns() -> None:
    with pytest.raises(DataError, match="turns that they do not"):
        fit_confidence([one for one in examples() if one.answerable])
