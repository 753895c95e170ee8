from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dspy
import numpy as np

from programs.lm.nearest import NearestPredict, embed

POOL = [
    dspy.Example(question="what was the net income in 2008?", operation="select"),
    dspy.Example(question="what was the change in revenue from 2007 to 2008?", operation="subtract"),
    dspy.Example(question="is the balance greater than the average?", operation="greater"),
    dspy.Example(question="what was the change in net income from 2011 to 2012?", operation="subtract"),
]


def test_texts_that_differ_in_the_year_only_are_near() -> None:
    vectors = embed(["net income in 2008", "net income in 2011", "growth of the fleet", ""])
    assert np.allclose(np.linalg.norm(vectors[:3], axis=1), 1)
    assert vectors[0] @ vectors[1] > 0.99
    assert vectors[0] @ vectors[2] < 0.3
    assert not vectors[3].any()


def test_the_nearest_demonstrations_are_shown(scripted_lm: Callable[..., dspy.LM]) -> None:
    predictor = NearestPredict("question -> operation")
    predictor.demos, predictor.nearest = POOL, 2
    lm = scripted_lm([{"operation": "subtract", "completed": ""}])
    with dspy.context(lm=lm):
        predictor(question="what was the change in expenses from 2015 to 2016?")
    asked = str(lm.history[-1])
    assert "revenue from 2007" in asked
    assert "from 2011 to 2012" in asked
    assert "greater than the average" not in asked


def test_a_saved_predictor_goes_on_choosing() -> None:
    predictor = NearestPredict("question -> operation")
    assert "nearest" not in predictor.dump_state()
    predictor.demos, predictor.nearest = POOL, 2
    again: Any = NearestPredict("question -> operation").load_state(predictor.dump_state())
    assert (again.nearest, len(again.demos)) == (2, 4)
    assert again.deepcopy().nearest == 2
    again.reset()
    assert again.nearest is None
