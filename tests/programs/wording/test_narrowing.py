"""Choices built call by call: no name outside the report's graph can be returned."""

from __future__ import annotations

import json
import pickle
from typing import get_args

import dspy
import pytest
from dspy.utils.exceptions import AdapterParseError

from kg.figures.figure_index import ReportIndex
from kg.ontology.learning import build_ontology
from kg.reports.report import Report
from kg.scoring.scorer import DerivationScorer
from programs.lm.adapter import ShortPromptAdapter, layout_of
from programs.lm.grammar import lines_grammar
from programs.wording.narrowing import pick_among, understand_about
from programs.worlds.reader import ReportReader
from signatures.aggregate import Aggregate
from signatures.understanding import Understand, Understanding

REPORT = Report("r", (), (("", "2009", "2008"), ("Net Income", "$ 10", "$ 12"), ("margin", "4.5%", "3.5%")), ())
REPLY = """\
description: x
entity_type: IncomeStatement
properties: margin
periods: 2008
operation: select
operands: none
requires_calculation: false"""


@pytest.fixture(scope="module")
def index() -> ReportIndex:
    return ReportReader(build_ontology([REPORT]), DerivationScorer.untrained()).read(REPORT)[1]


def _understood(index: ReportIndex, **said: object) -> Understanding:
    """What DSPy's JSON makes of a reply."""
    fields = {"description": "x", "entity_type": "IncomeStatement", "properties": ["margin"], "periods": ["2008"]}
    reply = {"understanding": {**fields, "operation": "select", **said}}
    parsed = dspy.JSONAdapter().parse(understand_about(Understand, index), json.dumps(reply))
    found: Understanding = parsed["understanding"]
    return found


def test_names_of_the_graph_are_read_whatever_their_case(index: ReportIndex) -> None:
    found = _understood(index, properties=["net  INCOME", "MARGIN"])
    assert [name.lower() for name in found.properties] == ["net income", "margin"]
    assert set(found.properties) <= {one.label for one in index.observations}
    assert found.entity_type == "IncomeStatement"
    assert isinstance(found, Understanding)


def test_a_narrowed_understanding_pickles(index: ReportIndex) -> None:
    found = _understood(index)
    assert type(found) is not Understanding
    again = pickle.loads(pickle.dumps(found))
    assert again == Understanding.model_validate(found.model_dump())


def test_names_that_the_graph_does_not_have_are_not_returned(index: ReportIndex) -> None:
    found = _understood(index, properties=["net sales", "margin"], periods=["1999", "2009"], entity_type="Weather")
    assert (found.properties, found.periods, found.entity_type) == (["margin"], ["2009"], "none")


def test_what_is_no_operation_is_no_understanding(index: ReportIndex) -> None:
    narrowed = understand_about(Understand, index)
    assert ShortPromptAdapter().parse(narrowed, REPLY)["understanding"].periods == ["2008"]
    for wrong in (REPLY.replace("select", "guess"), REPLY.replace("2008", "1999")):
        with pytest.raises(AdapterParseError):
            ShortPromptAdapter().parse(narrowed, wrong)


def test_a_held_model_can_only_say_names_of_the_graph(index: ReportIndex) -> None:
    grammar = lines_grammar(layout_of(understand_about(Understand, index)).schema)
    assert '"2009"' in grammar
    assert '"margin"' in grammar
    assert "1999" not in grammar


def test_a_choice_is_one_of_the_candidates_or_none() -> None:
    narrowed = pick_among(Aggregate, 3)
    assert get_args(narrowed.output_fields["choice"].annotation) == (0, 1, 2, 3)
    assert ShortPromptAdapter().parse(narrowed, "choice: 3\nconfidence: 0.5")["choice"] == 3
    with pytest.raises(AdapterParseError):
        ShortPromptAdapter().parse(narrowed, "choice: 4\nconfidence: 0.5")
    assert pick_among(Aggregate, 3) is narrowed, "made once"


def test_a_field_that_an_optimizer_has_typed_is_left_alone(index: ReportIndex) -> None:
    typed = Aggregate.with_updated_fields("choice", type_=str)
    assert pick_among(typed, 3) is typed
    other = dspy.Signature("question -> understanding: str")
    assert understand_about(other, index) is other


def test_choices_among_fewer_candidates_begin_with_the_same_prompt() -> None:
    adapter = ShortPromptAdapter()
    few, many = (pick_among(Aggregate, count, most=10) for count in (3, 10))
    assert adapter.format_system_message(few) == adapter.format_system_message(many)
    assert "choice is one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10" in adapter.format_system_message(few)
    with pytest.raises(AdapterParseError):
        adapter.parse(few, "choice: 4\nconfidence: 90")
    assert adapter.parse(many, "choice: 10\nconfidence: 90") == {"choice": 10, "confidence": 90.0}
    assert '"10"' not in lines_grammar(layout_of(few).schema)
    assert few == pick_among(Aggregate, 3, most=10)
    assert get_args(pick_among(Aggregate, 3).output_fields["choice"].annotation) == (0, 1, 2, 3)
