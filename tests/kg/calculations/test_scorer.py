"""The weights: what they say of forms and operands, and how they are written and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kg.calculations.forms import FormScorer, ParsedForm
from kg.calculations.network import ChoiceNetwork
from kg.calculations.question_features import PAIR_FEATURES
from kg.calculations.report_index import Idf
from kg.calculations.scorer import FORMAT, JOINT_WIDTH, ROLE_WIDTH, DerivationScorer, feature_widths
from kg.encoders import TextEncoder
from kg.errors import DataError


def _random_scorer(seed: int = 0) -> DerivationScorer:
    rng = np.random.default_rng(seed)
    figures, answers, groups = feature_widths()

    def network(width: int, groups: int = groups, pairs: int = PAIR_FEATURES) -> ChoiceNetwork:
        shapes = ((width, 3), (groups, 3), (3,), (3,), (width,), (groups, pairs))
        return ChoiceNetwork(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))

    names = ("select(A)", "subtract(R, R)", "multiply(A, C1000)")
    weights = rng.normal(size=(3, 3)).astype(np.float32)
    forms = FormScorer(names, {"bias": 0, "u:growth": 1, "u:never": 2}, weights)
    operands = {"A": network(figures), "R": network(answers)}
    ranker = network(JOINT_WIDTH, groups - ROLE_WIDTH, 0)
    return DerivationScorer(Idf({"cash": 0.5}, 2.0), forms, operands, ranker, trained_on="a toy")


@pytest.mark.parametrize(
    "name", ["?", "", "select", "add(A, A, A)", "add(A, X)", "guess(A, A)", "add(A)", "select(A, A)"]
)
def test_what_is_no_form(name: str) -> None:
    with pytest.raises(DataError):
        ParsedForm.parse(name)


@pytest.mark.parametrize("scorer", [DerivationScorer.untrained(), _random_scorer()], ids=["untrained", "random"])
def test_what_is_written_is_read_back_and_written_alike(scorer: DerivationScorer) -> None:
    text = scorer.to_json()
    again = DerivationScorer.from_json(text)
    assert again.rounded().to_json() == again.to_json()
    assert (again.trained_on, again.idf, again.forms.forms) == (scorer.trained_on, scorer.idf, scorer.forms.forms)
    assert again.parsed == scorer.parsed
    for kind in "AR":
        assert again.operands[kind].skip == pytest.approx(scorer.operands[kind].skip, rel=1e-3)
    assert (again.ranker is None) == (scorer.ranker is None)
    if again.ranker is not None and scorer.ranker is not None:
        assert again.ranker.rows_in == pytest.approx(scorer.ranker.rows_in, rel=1e-3)
        assert again.ranker.pairs.shape == scorer.ranker.pairs.shape
    questions = ["net growth?"]
    assert again.forms.log_probabilities(questions, [[]]) == pytest.approx(
        scorer.forms.log_probabilities(questions, [[]]), abs=0.02
    )


def _without(key: str) -> str:
    record = json.loads(_random_scorer().to_json())
    del record[key]
    return json.dumps(record)


def _with(**changes: Any) -> str:
    return json.dumps({**json.loads(_random_scorer().to_json()), **changes})


def _part(name: str, part: str, change: Callable[[list[Any]], object]) -> str:
    """The scorer with another part of one of its networks."""
    network = json.loads(_random_scorer().to_json())[name]
    change(network[part])
    return _with(**{name: network})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "^this is not a finpath scorer: ") for text in ("", "{", "[]", "null", '"scorer"', "{}")),
        *((_without(key), "^this is not a finpath scorer: ") for key in ("format", "forms", "form_weights", "idf")),
        (_with(form_weights={"bias": [[9, 1.0]]}), "^this is not a finpath scorer: "),
        (_with(operands_A={"rows_in": []}), "^this is not a finpath scorer: "),
        (_with(ranker=None), "^this is not a finpath scorer: "),
        (_with(format=FORMAT + 1), f"format must be {FORMAT}, got {FORMAT + 1}"),
        (_without("operands_A"), r"no operands_A, which its form 'select\(A\)' needs"),
        (_with(forms=["select(A)", "subtract(R, R)", "guess(A, A)"]), "unknown operation 'guess'"),
        (_with(form_weights={"u:change": [], "bias": []}), "form_weights must be 'bias'"),
        (_with(form_weights={"bias": [[0, float("nan")]]}), "form_weights must be finite"),
        (
            _part("operands_A", "out", lambda out: out.append(out.pop() * float("inf"))),
            "operands_A must have finite out",
        ),
    ],
)
def test_what_is_no_scorer_is_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        DerivationScorer.from_json(text)


@pytest.mark.parametrize("name", ["operands_A", "operands_R", "ranker"])
def test_weights_for_other_features_are_refused(name: str) -> None:
    network = json.loads(_random_scorer().to_json())[name]
    network["skip"].append(1.0)
    network["rows_in"].append([1.0, 1.0, 1.0])
    with pytest.raises(DataError, match=r"features, the search has .*: compile it again with this version"):
        DerivationScorer.from_json(_with(**{name: network}))


@pytest.mark.parametrize("name", ["operands_A", "operands_R", "ranker"])
@pytest.mark.parametrize("part", ["rows_in", "group_in", "out", "bias", "pairs"])
def test_networks_of_which_a_part_does_not_fit_are_refused(name: str, part: str) -> None:
    with pytest.raises(DataError, match=rf"^the scorer's {name} must have \w+ of the shape \(.*\), got \("):
        DerivationScorer.from_json(_part(name, part, list.pop))


def test_the_shipped_scorer_fits_the_search() -> None:
    folder = Path(__file__).resolve().parents[3] / "experiments" / "shipped" / "beam"
    text = (folder / "scorer.json").read_text()
    scorer = DerivationScorer.from_json(text, TextEncoder.read(folder / "encoder"))
    assert scorer.to_json().rstrip() == text.rstrip()
    assert scorer.trained_on
