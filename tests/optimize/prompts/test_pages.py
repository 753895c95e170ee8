"""Compiling the predictor that reads a page: labels from gold programs, and demonstrations that are short."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from kg.ontology import build_ontology
from kg.reports import Report
from kg.scoring import DerivationScorer
from optimize.metrics import keep_turn, score_turn
from optimize.prompts.turns import TurnStudent, demonstrations, tidy_demonstrations, turn_examples
from programs.beam import BeamQA
from programs.evidence import EvidenceConfig
from programs.worlds.page import shortened
from programs.worlds.reader import ReportReader
from signatures.understand import UnderstandReport

REPORT = Report(
    id="r",
    pre_text=tuple(f"note {n} says nothing ." for n in range(20)),
    table=(
        ("", "2009", "2008"),
        ("net income", "$ 10", "$ 12"),
        ("cash used", "-26 ( 26 )", "30"),
        ("tax rate", "16%", "20%"),
        *((f"item {n}", f"{200 + n}", f"{300 + n}") for n in range(9)),
    ),
    post_text=(),
)
CONVERSATION = dspy.Example(
    id="c",
    report=REPORT,
    questions=("what was the net income in 2009?", "and in 2008?", "what was the change?", "and the cash used?"),
    programs=("10", "12", "subtract(10, 12)", "26"),
    answers=(Decimal(10), Decimal(12), Decimal(-2), Decimal(26)),
)


@pytest.fixture(scope="module")
def reader() -> ReportReader:
    return ReportReader(build_ontology([REPORT]), DerivationScorer.untrained())


@pytest.fixture(scope="module")
def examples(reader: ReportReader) -> list[dspy.Example]:
    return turn_examples([CONVERSATION], reader)


def test_gold_programs_become_calculations_over_identifiers(examples: list[dspy.Example]) -> None:
    calculations = ["[r1c1]", "[r1c2]", "subtract([r1c1], [r1c2])", "abs([r2c1])"]
    assert [one.get("calculation") for one in examples] == calculations
    third = examples[2]
    assert third.conversation.splitlines() == [
        "[a1] what was the net income in 2009? -> 10 = [r1c1]",
        "[a2] and in 2008? -> 12 = [r1c2]",
    ]
    assert third.page.splitlines() == [
        "Table (figures read as currency unless noted; the page's own words count):",
        "r0:  | 2009 | 2008",
        "r1: net income | [r1c1] $ 10 | [r1c2] $ 12",
        "r2: cash used | [r2c1] -26 ( 26 ) | [r2c2] 30",
        "Text:",
    ]
    assert third.meaning
    assert examples[0].meaning == CONVERSATION.questions[0]


def test_labels_are_demonstrations_of_the_predictor(examples: list[dspy.Example]) -> None:
    found = demonstrations(examples, UnderstandReport, 900, seed=0)
    assert len(found) == 4
    assert all(set(one.keys()) == set(UnderstandReport.fields) for one in found)
    assert any("[a1]" in one.history for one in found), "the history has the names that calculations use"


def _answered(reader: ReportReader, example: dspy.Example, replies: list[dict[str, Any]]) -> Any:
    program = BeamQA(reader, evidence=EvidenceConfig())
    with dspy.context(lm=DummyLM(replies), adapter=dspy.ChatAdapter()):
        return TurnStudent(program)(report=example.report, question=example.question, history=example.history)


def test_a_demonstration_must_name_the_right_calculation_itself(
    reader: ReportReader, examples: list[dspy.Example]
) -> None:
    right = _answered(reader, examples[3], [_reply("abs([r2c1])"), {"choice": "10", "confidence": "90"}])
    picks = [place for place, one in enumerate(right.turn.candidates[:10]) if one.answer == 26]
    assert picks
    assert right.turn.evidence.named in picks
    assert keep_turn(examples[3], right) == float(right.turn.answer == 26)
    if right.turn.answer == 26:
        assert keep_turn(examples[3], right, trace=[]) is True
    refused = _answered(reader, examples[0], [_reply("4711"), _reply("[r1c1]"), {"choice": "1", "confidence": "90"}])
    assert keep_turn(examples[0], refused, trace=[]) is False
    assert "a calculation was refused" in score_turn(examples[0], refused).feedback


def _reply(calculation: str) -> dict[str, str]:
    return {"meaning": "m", "calculation": calculation, "confidence": "90"}


def test_bootstrapped_demonstrations_are_shortened(reader: ReportReader) -> None:
    student = BeamQA(reader)
    page = "Table:\nr0: | 2009\nr1: a | [r1c1] 5\nr2: b | [r2c1] 6\nr3: c | [r3c1] 7\nText:\ns0: x [s0n0] 1\ns1: y"
    whole = dspy.Example(page=page, history="none", question="a?", note="none", meaning="a", confidence=90)
    student.understand.predict.demos = [dspy.Example(**whole, calculation="[r1c1]", augmented=True, report="dropped")]
    short = "Table:\nr0: | 2009\nr1: a | [r1c1] 5\nr2: b | [r2c1] 6\nText:"
    assert shortened(student.understand.predict.demos[0]).page == short
    tidy_demonstrations(student)
    [kept] = student.understand.predict.demos
    assert (kept.page, kept.get("report"), kept.augmented) == (short, None, True)


def test_bootstrap_compiles_the_reading_of_pages(reader: ReportReader, examples: list[dspy.Example]) -> None:
    program = BeamQA(reader, evidence=EvidenceConfig())
    lm = DummyLM([_reply("[r1c1]")] * 20)
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        student = TurnStudent(program, active={"turn.understand.predict"})
        bootstrap = dspy.BootstrapFewShot(keep_turn, max_bootstrapped_demos=1, max_labeled_demos=2)
        compiled = bootstrap.compile(student, trainset=examples)
    tidy_demonstrations(compiled)
    demos = compiled.turn.understand.predict.demos
    assert demos
    assert all("[r1c1]" in one.page for one in demos if "[r1c1]" in one.calculation)
    assert max(len(one.page) for one in demos) < 400
