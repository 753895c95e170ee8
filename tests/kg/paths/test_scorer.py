"""The learned scorer of relations, on weights written by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kg.errors import DataError
from kg.paths.scorer import STOP, LearnedRelationScorer, RelationStep

RELATIONS = ("spouse", "people.person.parents", "^spouse", "^people.person.parents")
WEIGHTS = {
    "0": {"=spouse": 0.5},
    "0<wife": {"=spouse": 2.0, "parents": -1.0},
    "1": {STOP: 1.0},
    "|spouse": {"parents": 0.25, ".person": 0.5},
    "o0 dad": {"parents": 3.0},
}


def _step(question: str, paths: Sequence[Sequence[int]], offered: Any = None) -> RelationStep:
    followed = np.array(paths, dtype=np.int64).reshape(len(paths), -1)
    if offered is None:
        offered = np.ones((len(paths), len(RELATIONS)), dtype=np.bool_)
    return RelationStep(question, ("X",), RELATIONS, followed, np.asarray(offered))


def test_without_training_names_decide() -> None:
    scorer = LearnedRelationScorer.untrained(may_return=True)
    assert scorer.may_return
    scores = scorer.log_probabilities(_step("who are the parents of X", [[]]))
    assert scores[0].argmax() in (1, 3)
    after = scorer.log_probabilities(_step("who are the parents of X", [[1]]))
    assert after[0].argmax() == len(RELATIONS)


def test_weights_are_written_and_read_the_same() -> None:
    scorer = LearnedRelationScorer(WEIGHTS, {"back": -0.5}, may_return=True, trained_on="3 questions")
    text = scorer.to_json()
    read = LearnedRelationScorer.from_json(text)
    assert read == scorer
    assert read.to_json() == text
    assert read.sha256 == scorer.sha256
    turned = LearnedRelationScorer(dict(reversed(WEIGHTS.items())), {"back": -0.5}, True, "3 questions")
    assert turned.to_json() == text
    step = _step("the wife of X", [[0]])
    assert np.allclose(turned.log_probabilities(step), read.log_probabilities(step), atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 9}, "format must be 1"),
        ({"weights": []}, "not a relation scorer"),
        ({"weights": {"0": {"=a": "x"}}}, "not a relation scorer"),
        ({"weights": {"0": {"=a": float("nan")}}}, "weights must be finite"),
        ({"likeness": {"back": float("inf")}}, "weights must be finite"),
        ({"rules": {"may_fly": True}}, "not a relation scorer"),
    ],
)
def test_what_is_no_scorer_is_refused(change: dict[str, Any], message: str) -> None:
    record = {**json.loads(LearnedRelationScorer(WEIGHTS, {}).to_json()), **change}
    with pytest.raises(DataError, match=message):
        LearnedRelationScorer.from_json(json.dumps(record))
    with pytest.raises(DataError, match="not a relation scorer"):
        LearnedRelationScorer.from_json("[]")
