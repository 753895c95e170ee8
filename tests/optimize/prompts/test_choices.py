"""Compiling the choice among candidates: labels from gold answers."""

from __future__ import annotations

from decimal import Decimal

import dspy
import pytest

from kg.ontology import build_ontology
from kg.reports import Report
from kg.scoring import DerivationScorer
from optimize.needs import Extras
from optimize.prompts import LabeledOptimizer, TurnStudent
from optimize.prompts.choices import SHOWN, with_choices
from optimize.prompts.turns import turn_examples
from programs.beam import BeamQA
from programs.evidence import EvidenceConfig
from programs.worlds.reader import ReportReader
from signatures.aggregate import Aggregate

REPORT = Report(
    id="r",
    pre_text=(),
    table=(("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("cash used", "-26 ( 26 )", "30")),
    post_text=(),
)
CONVERSATION = dspy.Example(
    id="c",
    report=REPORT,
    questions=("what was the net income in 2009?", "and in 2008?", "what was the change?", "and seven times that?"),
    programs=("10", "12", "subtract(10, 12)", "multiply(7, 123456)"),
    answers=(Decimal(10), Decimal(12), Decimal(-2), Decimal(864192)),
)


@pytest.fixture(scope="module")
def turn() -> BeamQA:
    reader = ReportReader(build_ontology([REPORT]), DerivationScorer.untrained())
    return BeamQA(reader, evidence=EvidenceConfig())


@pytest.fixture(scope="module")
def labelled(turn: BeamQA) -> list[dspy.Example]:
    return with_choices(turn_examples([CONVERSATION], turn.reader), turn)


def test_the_choice_is_the_line_with_the_gold_answer(labelled: list[dspy.Example]) -> None:
    results = {"what was the net income in 2009?": " = 10", "and in 2008?": " = 12", "what was the change?": " = -2"}
    right = [one for one in labelled if one.choice]
    assert right
    for one in right:
        [line] = [row for row in one.candidates.splitlines() if row.startswith(f"{one.choice}. ")]
        assert line.endswith(results[one.question])
        assert 2 <= sum(row[:1].isdigit() for row in one.candidates.splitlines()) <= SHOWN
    assert {one.choice for one in right} != {1}, "the right line is not always the first"


def test_a_question_without_a_right_candidate_is_labelled_none(turn: BeamQA) -> None:
    [first, *_] = turn_examples([CONVERSATION], turn.reader)
    [found] = with_choices([first.copy(answer=Decimal("123.45"))], turn)
    assert found.choice == 0


def test_labels_are_demonstrations_of_the_choice(turn: BeamQA) -> None:
    examples = turn_examples([CONVERSATION], turn.reader)
    student = TurnStudent(turn, active={"turn.aggregate.predict"})
    compiled = LabeledOptimizer(k=2).make(0, Extras()).compile(student, trainset=examples)
    demos = compiled.turn.aggregate.predict.demos
    assert len(demos) == 2
    assert all(set(one.keys()) == set(Aggregate.fields) for one in demos)
    later = [one for one in demos if one.question != CONVERSATION.questions[0]]
    assert all("[a1] what was the net income in 2009? -> 10 = [r1c1]" in one.history for one in later)
