"""The weights: what they say of forms and operands, and how they are written and refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kg.calculations.figure_relations import PAIR_FEATURES
from kg.calculations.forms import FormScorer, ParsedForm
from kg.calculations.idf import Idf
from kg.calculations.network import ChoiceNetwork
from kg.calculations.scorer import (
    FORMAT,
    JOINT_WIDTH,
    ROLE_WIDTH,
    DerivationScorer,
    feature_widths,
    role_features,
)
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
    ("name", "operation", "kinds", "constants"),
    [
        ("select(A)", "select", ("A",), ("",)),
        ("subtract(R, A)", "subtract", ("R", "A"), ("", "")),
        ("multiply(A, C1000)", "multiply", ("A", "C"), ("", "const_1000")),
        ("multiply(R, Cm1)", "multiply", ("R", "C"), ("", "const_m1")),
        ("change_ratio(A, A)", "change_ratio", ("A", "A"), ("", "")),
    ],
)
def test_forms_are_taken_apart(name: str, operation: str, kinds: tuple[str, ...], constants: tuple[str, ...]) -> None:
    form = ParsedForm.parse(name)
    assert form == ParsedForm(name, operation, kinds, constants)
    assert form.operands == len(kinds)


@pytest.mark.parametrize(
    "name", ["?", "", "select", "add(A, A, A)", "add(A, X)", "guess(A, A)", "add(A)", "select(A, A)"]
)
def test_what_is_no_form(name: str) -> None:
    with pytest.raises(DataError):
        ParsedForm.parse(name)


def test_roles_differ_by_operation_position_other_operand_and_history() -> None:
    names = ("select(A)", "subtract(A, A)", "subtract(A, R)", "subtract(A, C100)", "divide(A, A)", "average(A, A)")
    roles = [role_features(ParsedForm.parse(name), 0, has_history=False) for name in names]
    roles.append(role_features(ParsedForm.parse("subtract(A, A)"), 1, has_history=False))
    roles.append(role_features(ParsedForm.parse("subtract(A, A)"), 0, has_history=True))
    assert len({tuple(role) for role in roles}) == len(roles)


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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '"scorer"',
        "{}",
        *(_without(key) for key in ("format", "forms", "form_weights", "idf", "unseen", "trained_on")),
        _with(form_weights={"bias": [[9, 1.0]]}),
        _with(form_weights={"bias": [1.0]}),
        _with(operands_A={"rows_in": []}),
        _with(ranker={"rows_in": []}),
        _with(ranker=None),
    ],
)
def test_what_is_no_scorer_is_refused(text: str) -> None:
    with pytest.raises(DataError, match=r"^this is not a finpath scorer: "):
        DerivationScorer.from_json(text)


def test_another_format_is_refused() -> None:
    with pytest.raises(DataError, match="format"):
        DerivationScorer.from_json(_with(format=FORMAT + 1))


def _width(network: str) -> int:
    figures, answers, _ = feature_widths()
    return {"operands_A": figures, "operands_R": answers, "ranker": JOINT_WIDTH}[network]


@pytest.mark.parametrize("name", ["operands_A", "operands_R", "ranker"])
def test_weights_for_other_features_are_refused(name: str) -> None:
    width = _width(name)
    network = json.loads(_random_scorer().to_json())[name]
    network["skip"].append(1.0)
    network["rows_in"].append([1.0, 1.0, 1.0])
    with pytest.raises(DataError, match=f"fitted to {width + 1} features, the search has {width}"):
        DerivationScorer.from_json(_with(**{name: network}))


@pytest.mark.parametrize("name", ["operands_A", "operands_R", "ranker"])
@pytest.mark.parametrize("part", ["rows_in", "group_in", "out", "bias", "pairs"])
def test_networks_of_which_a_part_does_not_fit_are_refused(name: str, part: str) -> None:
    network = json.loads(_random_scorer().to_json())[name]
    network[part].pop()
    with pytest.raises(DataError, match=rf"^the scorer's {name} must have \w+ of the shape \(.*\), got \("):
        DerivationScorer.from_json(_with(**{name: network}))


def test_a_ranker_may_be_missing() -> None:
    assert DerivationScorer.from_json(_without("ranker")).ranker is None
    assert "ranker" not in json.loads(DerivationScorer.untrained().to_json())
    assert replace(_random_scorer(), ranker=None).sha256 != _random_scorer().sha256


@pytest.mark.parametrize("kind", ["A", "R"])
def test_a_network_that_a_form_needs_must_be_there(kind: str) -> None:
    form = {"A": "select(A)", "R": "subtract(R, R)"}[kind]
    with pytest.raises(DataError) as caught:
        DerivationScorer.from_json(_without(f"operands_{kind}"))
    assert str(caught.value) == f"the scorer has no operands_{kind}, which its form {form!r} needs"


@pytest.mark.parametrize(
    "weights", [{"u:change": [], "bias": []}, {}, {"bias": [[0, float("nan")]]}], ids=["order", "empty", "nan"]
)
def test_form_weights_that_cannot_be_used_are_refused(weights: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="form_weights"):
        DerivationScorer.from_json(_with(form_weights=weights))


def test_weights_that_are_not_finite_are_refused() -> None:
    network = json.loads(_random_scorer().to_json())["operands_A"]
    network["out"][0] = float("inf")
    with pytest.raises(DataError, match=r"^the scorer's operands_A must have finite out$"):
        DerivationScorer.from_json(_with(operands_A=network))


def test_the_shipped_scorer_fits_the_search() -> None:
    folder = Path(__file__).resolve().parents[3] / "experiments" / "shipped" / "beam"
    text = (folder / "scorer.json").read_text()
    scorer = DerivationScorer.from_json(text, TextEncoder.read(folder / "encoder"))
    assert scorer.to_json().rstrip() == text.rstrip()
    assert scorer.trained_on
