"""The prompt over a few figures by name, and the program that asks by it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

import finpath
from kg.calculations import DerivationScorer
from kg.reports import Report, build_ontology
from kg.search import Derivation, PastTurn
from programs.aggregate import MODEL_DECIDES, EvidenceConfig
from programs.conversation import ConversationQA
from programs.lm.engine import request_body
from programs.worlds.page import LinePrompt, PageFigures
from programs.worlds.page.lines import DEMONSTRATIONS, nearest_demonstrations
from programs.worlds.report import ReportReader
from signatures.understand import UnderstandLines

REPORT = Report(
    id="r",
    pre_text=(),
    table=(("", "2009", "2008"), ("net [r1c1], income", "$ 10", "$ 12"), ("tax rate", "16%", "20%")),
    post_text=("the loss was $ -3 in 2009 .",),
)
ONTOLOGY = build_ontology([REPORT])
INDEX = ReportReader(ONTOLOGY, DerivationScorer.untrained()).read(REPORT)[1]
FIGURES = PageFigures(INDEX)
INCOME, BEFORE = FIGURES.number("r1c1"), FIGURES.number("r1c2")


def _past(*programs: str) -> list[PastTurn]:
    turns = [Derivation.parse(program) for program in programs]
    identified = [FIGURES.identified(one, "net income") for one in turns]
    return [PastTurn(f"question {one}?", one, one.execute(REPORT.table)) for one in identified if one is not None]


def _prompt(past: list[PastTurn], *names: str) -> LinePrompt:
    return LinePrompt([FIGURES.observation(name) for name in names], past, "and the change?")


def test_figures_have_names_and_a_question_its_turns_with_calculations() -> None:
    prompt = _prompt(_past("10", "subtract(10, 12)"), "r1c1", "r1c2", "r2c1")
    names = ["[net (r1c1) income, 2009]", "[net (r1c1) income, 2008]"]
    assert prompt.inputs["figures"].splitlines() == [f"{names[0]} 10", f"{names[1]} 12", "[tax rate, 2009] 16%"]
    assert prompt.inputs["question"] == "Q3: and the change?"
    calculations = [turn["calculation"] for turn in prompt.inputs["history"].messages]
    assert calculations == [names[0], f"{names[0]} - {names[1]}"]
    assert _prompt(_past("subtract(10, 12)"), "r1c1").inputs["history"].messages[0]["calculation"] == "-2"


@pytest.mark.parametrize(
    ("program", "written"),
    [
        ("subtract(10, 12), divide(#0, 12)", "Q1 / [net (r1c1) income, 2008]"),
        ("add(10, 12), divide(#0, const_2)", "([net (r1c1) income, 2009] + [net (r1c1) income, 2008]) / 2"),
        ("exp(10, const_2)", None),
        ("add(10, 16%)", None),
        ("3", None),
    ],
)
def test_calculations_are_written_over_names_and_read_back(program: str, written: str | None) -> None:
    past = _past("subtract(10, 12)")
    derivation = FIGURES.identified(Derivation.parse(program), "net income")
    assert derivation is not None
    prompt = _prompt(past, "r1c1", "r1c2")
    assert prompt.write(derivation, past) == written
    if written is not None:
        assert "[r1c2]" in prompt.read(written)
        assert "net" not in prompt.read(written)


def _program(pool: list[dspy.Example], **settings: Any) -> ConversationQA:
    program = ConversationQA.unfitted(ONTOLOGY)
    program.turn.understand.lines = dspy.Predict(UnderstandLines)
    program.turn.understand.lines.demos = pool
    plan = replace(MODEL_DECIDES, lines=True, **settings)
    plan = replace(plan, prompts=program.turn.prompts_for(plan))
    program.evidence = EvidenceConfig(plans={"dummy": plan, "local/scripted": plan})
    return program


def _pool(count: int) -> list[dspy.Example]:
    history = dspy.History(messages=[{"question": "Q1: sales?", "calculation": "[sales, 2009]"}])
    fields = {"figures": "", "history": history}
    return [
        dspy.Example(**fields, question=f"Q2: and since {year}?", calculation=f"Q1 - [sales, {year}]")
        for year in range(count)
    ]


def test_a_reply_over_names_is_the_answer_in_one_call() -> None:
    lm = DummyLM([{"calculation": "[net (r1c1) income, 2009] - [net (r1c1) income, 2008]"}], adapter=_Plain())
    with dspy.context(lm=lm):
        turn = _program(_pool(9))(report=REPORT, question="how much did net income change?").turns[-1]
    assert (turn.answer, turn.usage.lm_calls, turn.understanding.answer) == (Decimal(-2), 1, "-2")
    assert turn.understanding.calculation == "[r1c1] - [r1c2]"
    messages = lm.history[0]["messages"]
    assert [one["role"] for one in messages] == ["system", *("user", "assistant") * DEMONSTRATIONS, "user"]
    assert messages[1]["content"] == "Q1: sales? = [sales, 2009]\nQ2: and since 0?"
    assert messages[-1]["content"].endswith("\nQ1: how much did net income change?")


@pytest.mark.parametrize("agrees", [True, False])
def test_agreement_changes_the_confidence_and_nothing_else(agrees: bool) -> None:
    question = "what was the net income in 2008?"
    alone = ConversationQA.unfitted(ONTOLOGY)(report=REPORT, question=question).turns[-1]
    named = f"[{alone.derivation.numbers[0].source}]" if agrees else "[r1c1] * [r1c2]"
    program = _program(_pool(1), decides=False, agreement={"bias": -1.0, "search": 0.5, "agrees": 2.0})
    with dspy.context(lm=DummyLM([{"calculation": named}], adapter=_Plain())):
        turn = program(report=REPORT, question=question).turns[-1]
    assert (turn.answer, turn.candidates, turn.evidence) == (alone.answer, alone.candidates, None)
    plan = program.evidence.plans["dummy"]
    assert turn.confidence == pytest.approx(plan.agreed(alone.confidence, agrees=agrees))
    assert plan.agreed(0.5, agrees=True) == pytest.approx(0.731, abs=1e-3)


class _Plain(dspy.Adapter):
    """Writes the replies of a scripted model as they are."""

    def format_field_with_value(self, fields: dict[Any, str]) -> str:
        return "".join(fields.values())


def test_an_embedded_model_is_held_to_the_names(scripted_lm: Any) -> None:
    lm = scripted_lm([{"calculation": "unused"}])
    grammars: list[str] = []
    complete = lm.engine.complete
    lm.engine.in_process = True
    lm.engine.complete = lambda request: (grammars.append(request_body(request)["grammar"]), complete(request))[1]
    with dspy.context(lm=lm):
        _program(_pool(2))(report=REPORT, question="how much did net income change?")
    assert '"[net (r1c1) income, 2009]"' in grammars[0]


def test_a_pool_is_saved_with_the_program(tmp_path: Path) -> None:
    finpath.save(_program(_pool(3)), tmp_path / "mine")
    program = finpath.load(str(tmp_path / "mine"))
    assert [demo["calculation"] for demo in program.turn.understand.lines.demos][2] == "Q1 - [sales, 2]"
    assert program.turn.evidence_for(DummyLM([])) == program.evidence


def test_the_nearest_conversations_come_last() -> None:
    def example(question: str) -> dict[str, Any]:
        return {"history": dspy.History(messages=[]), "question": f"Q1: {question}", "calculation": "1"}

    words = ("revenue", "net income", "cash", "debt", "tax", "interest")
    pool = [example(f"what was the {word} in 2009?") for word in words]
    change = example("what was the percentage change in revenue from 2008 to 2009?")
    asked = example("what is the percent change in cash from 2011 to 2012?")
    nearest = nearest_demonstrations([change, *pool], asked, finpath.load("beam").scorer.encoder)
    assert (len(nearest), nearest[-1]) == (DEMONSTRATIONS, change)
