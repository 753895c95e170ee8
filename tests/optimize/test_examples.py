"""Turn examples: labels from gold programs and answers, and demonstrations that are short."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from kg.calculations import DerivationScorer
from kg.errors import ConfigError, DataError
from kg.reports import Report, build_ontology
from optimize import metric, turn_examples
from optimize.examples import HistoryHandle, ReportHandle, demonstrations, split_turns, tidy_demonstrations, with_lines
from optimize.optimizers import LabeledLines
from programs.aggregate import EvidenceConfig
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.worlds.report import ReportReader
from signatures.understand import UnderstandLines, UnderstandReport

REPORT = Report(
    id="r",
    pre_text=tuple(f"note {n} says nothing ." for n in range(20)),
    table=(
        ("", "2009", "2008"),
        ("net income", "$ 10", "$ 12"),
        ("cash used", "-26 ( 26 )", "-30 ( 30 )"),
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
    return turn_examples([CONVERSATION], ConversationQA(BeamQA(reader)))


def test_gold_programs_become_calculations_over_identifiers(examples: list[dspy.Example]) -> None:
    calculations = ["[r1c1]", "[r1c2]", "subtract([r1c1], [r1c2])", "abs([r2c1])"]
    assert [one.get("calculation") for one in examples] == calculations
    third = examples[2]
    assert third.conversation.splitlines() == [
        "[a1] what was the net income in 2009? -> 10 = [r1c1]",
        "[a2] and in 2008? -> 12 = [r1c2]",
    ]
    assert third.page.splitlines() == [
        "Table:",
        "r0:  | 2009 | 2008",
        "r1: net income | [r1c1] $ 10 | [r1c2] $ 12",
        "r2: cash used | [r2c1] -26 | [r2c2] -30",
    ]
    assert third.meaning
    assert examples[0].meaning == CONVERSATION.questions[0]


def test_labels_are_demonstrations_of_the_predictor(examples: list[dspy.Example]) -> None:
    found = demonstrations(examples, UnderstandReport, 900, seed=0)
    assert len(found) == 4
    assert all(set(one.keys()) == set(UnderstandReport.fields) for one in found)
    assert any("[a1]" in one.history for one in found), "the history has the names that calculations use"


def _answered(reader: ReportReader, example: dspy.Example, replies: list[dict[str, Any]]) -> Any:
    program = ConversationQA(BeamQA(reader, evidence=EvidenceConfig()))
    with dspy.context(lm=DummyLM(replies), adapter=dspy.ChatAdapter()):
        return program(report=example.report, question=example.question, history=example.history)


def test_a_demonstration_must_name_the_right_calculation_itself(
    reader: ReportReader, examples: list[dspy.Example]
) -> None:
    right = _answered(reader, examples[3], [_reply("abs([r2c1])"), {"choice": "10", "confidence": "90"}])
    picks = [place for place, one in enumerate(right.turn.candidates[:10]) if one.answer == 26]
    assert picks
    assert right.turn.evidence.named in picks
    assert float(metric(examples[3], right)) == float(right.turn.answer == 26)
    if right.turn.answer == 26:
        assert metric(examples[3], right, trace=[]) is True
    refused = _answered(reader, examples[0], [_reply("4711"), _reply("[r1c1]"), {"choice": "1", "confidence": "90"}])
    assert metric(examples[0], refused, trace=[]) is False
    assert "a calculation was refused" in metric(examples[0], refused).feedback


def _reply(calculation: str) -> dict[str, str]:
    return {"meaning": "m", "calculation": calculation, "confidence": "90"}


def test_demonstrations_keep_their_own_fields_and_the_lines_of_the_page_that_they_use(reader: ReportReader) -> None:
    program = BeamQA(reader)
    page = "Table:\nr0: | 2009\nr1: a | [r1c1] 5\nr2: b | [r2c1] 6\nr3: c | [r3c1] 7\nText:\ns0: x [s0n0] 1\ns1: y"
    whole = dspy.Example(page=page, history=HistoryHandle(()), question="a?", note="none", meaning="a", confidence=90)
    handles = {"report": ReportHandle(REPORT), "augmented": True}
    program.understand.predict.demos = [
        dspy.Example(**whole, calculation="[r1c1]", **handles),
        dspy.Example(question="x"),
    ]
    tidy_demonstrations(program)
    [kept] = program.understand.predict.demos
    assert kept.page == "Table:\nr0: | 2009\nr1: a | [r1c1] 5\nr2: b | [r2c1] 6\nText:"
    assert (kept.get("report"), kept.augmented, type(kept.history)) == (None, True, str)


def test_turns_have_gold_history_and_short_texts(shipped_beam: Any, sample_train: list[dspy.Example]) -> None:
    examples = turn_examples(sample_train[:1], shipped_beam)
    assert [len(one.history.turns) for one in examples] == list(range(len(sample_train[0].questions)))
    assert len(repr(examples[0].report)) < 60
    assert str(examples[1].history).startswith("[a1] ")
    assert set(examples[0].inputs()) == {"report", "question", "history"}
    with pytest.raises(DataError, match="no gold programs"):
        turn_examples([dspy.Example(id="c", programs=None, answers=None)], shipped_beam)


def test_validation_turns_are_of_other_reports(shipped_beam: Any, sample_train: list[dspy.Example]) -> None:
    train, val = split_turns(sample_train, shipped_beam, train=100, val=8, seed=1)
    assert len(val) == 8
    assert not {one.report.report.id for one in train} & {one.report.report.id for one in val}


def test_demonstrations_take_operations_in_turns(shipped_beam: Any, sample_train: list[dspy.Example]) -> None:
    examples = turn_examples(sample_train, shipped_beam)
    pool = demonstrations(examples, UnderstandReport, 700, seed=0)
    assert len({demo.calculation.partition("(")[0] for demo in pool[:3]}) == 3
    assert all(sum(len(str(value)) for value in demo.values()) <= 700 for demo in pool)
    assert demonstrations(examples, UnderstandReport, 1, seed=0) == []


@pytest.fixture(scope="module")
def beam(reader: ReportReader) -> BeamQA:
    return BeamQA(reader, evidence=EvidenceConfig())


def test_lines_name_the_figures_of_the_gold_program(examples: list[dspy.Example], beam: BeamQA) -> None:
    lines = with_lines([*examples, examples[0].copy(answer=Decimal("123.45"))], beam)
    names = ["[net income, 2009]", "[net income, 2008]"]
    assert [one.calculation for one in lines][:3] == [*names, "Q1 - Q2"] or lines[2].calculation == " - ".join(names)
    assert len(lines) <= len(examples), "one whose calculation has another answer gives none"
    assert [turn["question"] for turn in lines[1].history.messages] == ["Q1: what was the net income in 2009?"]


def test_the_model_that_is_set_gets_a_pool_of_lines(examples: list[dspy.Example], beam: BeamQA) -> None:
    with dspy.context(lm=DummyLM([])):
        compiled = LabeledLines(k=2).compile(ConversationQA(beam), trainset=examples)
        assert [set(one.keys()) for one in compiled.turn.understand.lines.demos] == [set(UnderstandLines.fields)] * 2
        assert compiled.evidence.plans["dummy"].lines
        assert beam.understand.lines is None
        with pytest.raises(ConfigError, match=r"none of the 4 turns gives the beam a demonstration of 5 signs"):
            LabeledLines(k=2, longest=5).compile(ConversationQA(beam), trainset=examples)
