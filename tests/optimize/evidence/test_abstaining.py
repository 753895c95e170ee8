"""The abstention with a language model's evidence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kg.errors import DataError
from optimize.evidence import AbstentionExample, fit_abstention


def _questions(tells: float) -> list[AbstentionExample]:
    """Questions of twenty reports; the model's ``none`` tells by so many standard deviations, the search nothing."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(200):
        is_answerable = bool(number % 2)
        none = min(float(rng.normal() - 2 - tells * is_answerable), -1e-3)
        found.append(AbstentionExample(f"report {number // 10}", is_answerable, float(rng.uniform(0.4, 0.9)), none))
    return found


def test_what_the_model_says_of_none_counts_where_it_tells() -> None:
    fitted = fit_abstention(_questions(3.0))
    assert fitted.abstention.weights["none"] < -0.5
    assert abs(fitted.abstention.weights["answerable"]) < 0.5
    recognised, groups = fitted.recognised(0.1)
    assert len(recognised) == len(groups) == 100
    assert np.mean(recognised) > 0.8
    assert fitted.abstention.judge(0.6, -0.1) < fitted.abstention.least < fitted.abstention.judge(0.6, -8.0)


def test_a_model_that_tells_nothing_recognises_no_more_than_are_lost() -> None:
    fitted = fit_abstention(_questions(0.0))
    assert abs(fitted.abstention.weights["none"]) < 0.2
    assert np.mean(fitted.recognised(0.1)[0]) < 0.25
    assert fitted.loss > math.log(2) - 0.05


def test_both_kinds_of_questions_are_needed() -> None:
    with pytest.raises(DataError, match="with and without an answer"):
        fit_abstention([one for one in _questions(1.0) if one.is_answerable])
