"""The fit of the confidence of a search."""

from __future__ import annotations

import numpy as np
import pytest

from kg.calculations import CONFIDENCE_FEATURES, ConfidenceModel
from kg.errors import DataError
from optimize.scorers.confidence import fit_confidence


def turns(count: int = 400) -> tuple[list[dict[str, float]], list[bool]]:
    """Turns whose first feature says whether they are right."""
    rng = np.random.default_rng(0)
    features = [dict(zip(CONFIDENCE_FEATURES, rng.normal(size=2).tolist(), strict=False)) for _ in range(count)]
    return features, [bool(rng.random() < 1 / (1 + np.exp(-2 * one[CONFIDENCE_FEATURES[0]]))) for one in features]


def test_the_confidence_is_calibrated() -> None:
    features, right = turns(2000)
    model = fit_confidence(features, right, least_right=0.4)
    sure = np.array([model.judge(one) for one in features])
    for low in (0.0, 0.25, 0.5, 0.75):
        part = (sure >= low) & (sure < low + 0.25)
        assert abs(sure[part].mean() - np.array(right)[part].mean()) < 0.06


def test_it_is_saved_and_read() -> None:
    model = fit_confidence(*turns(), least_right=0.4, fitted_on="here")
    again = ConfidenceModel.from_dict(model.to_dict())
    features = dict.fromkeys(CONFIDENCE_FEATURES, 1.0)
    assert again.judge(features) == pytest.approx(model.judge(features), abs=1e-3)
    assert (again.least_right, again.fitted_on) == (0.4, "here")
    with pytest.raises(DataError, match="'colour', which is no feature"):
        ConfidenceModel.from_dict({**model.to_dict(), "right": {"colour": 1.0}})


def test_it_needs_both_kinds_of_turns() -> None:
    features, _ = turns()
    with pytest.raises(DataError, match="turns that it does not"):
        fit_confidence(features, [True] * len(features), least_right=0.4)
