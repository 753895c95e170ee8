"""A conversation: its own answers are the history, and one failed turn does not end it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import dspy
import pytest
from dspy import lm15
from dspy.streaming import StatusMessage, StatusMessageProvider
from dspy.utils import DummyLM

from kg.calculations.turn_search import DerivationConfig
from kg.errors import DataError
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from programs.aggregate import MODEL_DECIDES, EvidenceConfig
from programs.answer import Answer
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.turns.turn import Turn

REPORT = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4.5%", "3.5%")), ())
EMPTY = Report("empty", ("nothing here .",), (), ())
QUESTIONS = ["what was net income in 2009?", "and in 2008?", "what is the change?"]
UNDERSTOOD = {"meaning": "x", "calculation": "add([r1c1], [r2c2])", "confidence": "50"}
PICKED = {"choice": "1", "confidence": "0.7"}


def _program() -> ConversationQA:
    made = ConversationQA.unfitted(build_ontology([REPORT]), config=DerivationConfig(beam_width=10, histories=3))
    assert isinstance(made.turn, BeamQA)
    made.evidence = EvidenceConfig(plans={"dummy": MODEL_DECIDES, "local/scripted": MODEL_DECIDES})
    return made


def _turns(lm: dspy.BaseLM | None = None, report: Report = REPORT, count: int = 3) -> list[Turn]:
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turns: list[Turn] = _program()(report=report, questions=QUESTIONS[:count]).turns
    return turns


def _told(lm: dspy.BaseLM) -> list[str]:
    return [entry["messages"][-1]["content"] for entry in lm.history]


def test_there_is_a_turn_for_every_question_in_order() -> None:
    turns = _turns()
    assert [turn.question for turn in turns] == QUESTIONS
    assert all(turn.answer is not None and turn.failure is None for turn in turns)
    assert _program()(report=REPORT, questions=[]).turns == []


def test_what_is_picked_is_what_later_turns_build_on() -> None:
    lm = DummyLM([UNDERSTOOD, {**PICKED, "choice": "4"}, UNDERSTOOD, PICKED])
    program = _program()
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        state = program.ask(program.start(program.world(REPORT)), QUESTIONS[0])
    picked = state.turns[0].derivation
    assert picked is not None
    [history] = state.histories
    assert history.turns[0].derivation == picked


def test_asking_asynchronously_is_asking() -> None:
    def answers(turns: Sequence[Turn]) -> list[object]:
        return [(turn.answer, turn.derivation, turn.pick, turn.failure, turn.usage.lm_calls) for turn in turns]

    async def together() -> list[list[object]]:
        asked = [dspy.asyncify(program)(report=one, questions=QUESTIONS) for one in (REPORT, EMPTY, REPORT)]
        return [answers(found.turns) for found in await asyncio.gather(*asked)]

    program = _program()
    assert asyncio.run(together()) == [answers(_turns()), answers(_turns(report=EMPTY)), answers(_turns())]
    lm = DummyLM([UNDERSTOOD, {**PICKED, "choice": "2"}] * 3)
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turns = asyncio.run(program.acall(report=REPORT, questions=QUESTIONS)).turns
    assert all(turn.pick is not None for turn in turns)
    assert all(turn.usage.lm_calls == 2 for turn in turns)


def test_steps_and_the_words_of_the_explanation_are_streamed(scripted_lm: Callable[..., dspy.LM]) -> None:
    class Steps(StatusMessageProvider):
        def module_start_status_message(self, instance: Any, inputs: dict[str, Any]) -> str:
            return type(instance).__name__

    program = _program()
    program.turn.answer = Answer(explain=True)
    listener = dspy.streaming.StreamListener("sentence", program.turn.answer.predict, "explain")
    ask = dspy.streamify(program, Steps(), [listener], async_streaming=False)
    sentence = "Net income was $ 10 in 2009."
    lm = scripted_lm([{**UNDERSTOOD, "calculation": "[r1c1]"}, {"sentence": sentence}])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        *parts, last = ask(report=REPORT, question=QUESTIONS[0])
    steps = [one.message for one in parts if isinstance(one, StatusMessage)]
    asked = ["ConversationQA", "ReportWorld", "Understand", "Aggregate", "Answer"]
    assert [step for step in steps if step != "Predict"] == asked
    assert "".join(one.chunk for one in parts if isinstance(one, dspy.streaming.StreamResponse)) == sentence
    assert last.turn.explanation == sentence


def test_a_state_is_not_changed_by_what_is_asked_next() -> None:
    program = _program()
    start = program.start(program.world(REPORT))
    first = program.ask(start, QUESTIONS[0])
    program.ask(first, QUESTIONS[1])
    assert start.turns == ()
    assert len(first.turns) == 1
    assert program.ask(first, QUESTIONS[1]).turns[1].derivation == program.ask(first, QUESTIONS[1]).turns[1].derivation


def test_a_model_that_fails_once_does_not_end_the_conversation(scripted_lm: Callable[..., dspy.LM]) -> None:
    lm = scripted_lm([UNDERSTOOD, PICKED, lm15.TransportError("it is down"), UNDERSTOOD, PICKED])
    turns = _turns(lm)
    assert [turn.failure for turn in turns] == [None, "lm_error", None]
    assert f"[a2] {QUESTIONS[1]} -> not answered" in _told(lm)[-1]


@pytest.mark.parametrize(("choice", "failure"), [("0", "picked_none"), ("99", "no_valid_choice")])
def test_a_turn_without_a_pick_does_not_end_the_conversation(choice: str, failure: str) -> None:
    refused = {**PICKED, "choice": choice}
    tries = 2 if failure == "no_valid_choice" else 1  # a reply that cannot be read is asked for once more, as JSON
    turns = _turns(DummyLM([UNDERSTOOD, *[refused] * tries, UNDERSTOOD, PICKED, UNDERSTOOD, *[refused] * tries]))
    assert [turn.failure for turn in turns] == [failure, None, failure]
    assert turns[1].answer is not None


def test_a_report_that_cannot_be_read_fails_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program()

    def broken(report: Report, *_: object) -> None:
        raise DataError("it has no rows", place=f"report {report.id!r}")

    monkeypatch.setattr(program.turn.reader, "read", broken)
    turns = program(report=REPORT, questions=QUESTIONS).turns
    assert [(turn.question, turn.failure) for turn in turns] == [(question, "error") for question in QUESTIONS]
    assert turns[0].message == "DataError: report 'r': it has no rows"
