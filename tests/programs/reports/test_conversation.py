"""A conversation: its own answers are the history, and one failed turn does not end it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from decimal import Decimal

import dspy
import pytest
from dspy import lm15
from dspy.utils import DummyLM

from kg.candidates.search import DerivationConfig
from kg.derivations.derivation import Derivation
from kg.derivations.history import PastTurn
from kg.errors import DataError
from kg.ontology.learning import build_ontology
from kg.reports.report import Report
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.evidence.blend import Blend
from programs.evidence.plans import EvidenceConfig, EvidencePlan
from programs.turns.turn import Turn
from programs.worlds.report import ReportWorld

REPORT = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4.5%", "3.5%")), ())
EMPTY = Report("empty", ("nothing here .",), (), ())
QUESTIONS = ["what was net income in 2009?", "and in 2008?", "what is the change?"]
MEANING = '{"description": "x", "properties": [], "periods": [], "operation": "select"}'
UNDERSTOOD, PICKED = {"understanding": MEANING}, {"choice": "1", "confidence": "0.7"}


STRONG = EvidencePlan("index", understand=True, blend=Blend({"beam": 0.1, "share": 4.0}, {"none": 4.0}), fitted=True)


def _program() -> ConversationQA:
    made = ConversationQA.unfitted(build_ontology([REPORT]), config=DerivationConfig(beam_width=10, histories=3))
    assert isinstance(made.turn, BeamQA)
    made.turn.set_evidence(EvidenceConfig(plans={"dummy": STRONG, "local/scripted": STRONG}, refuse=True))
    return made


def _turns(
    lm: dspy.BaseLM | None = None, report: Report = REPORT, past: Sequence[PastTurn] | None = None, count: int = 3
) -> list[Turn]:
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turns: list[Turn] = _program()(report=report, questions=QUESTIONS[:count], past=past).turns
    return turns


def _told(lm: dspy.BaseLM) -> list[str]:
    return [entry["messages"][-1]["content"] for entry in lm.history]


def test_there_is_a_turn_for_every_question_in_order() -> None:
    turns = _turns()
    assert [turn.question for turn in turns] == QUESTIONS
    assert all(turn.answer is not None and turn.failure is None for turn in turns)
    assert _program()(report=REPORT, questions=[]).turns == []


def test_the_same_conversation_is_answered_alike() -> None:
    assert [turn.derivation for turn in _turns()] == [turn.derivation for turn in _turns()]


def test_earlier_turns_do_not_depend_on_later_questions() -> None:
    assert [turn.derivation for turn in _turns(count=2)] == [turn.derivation for turn in _turns()][:2]


def test_the_program_s_own_answers_are_what_the_model_is_told() -> None:
    lm = DummyLM([UNDERSTOOD, PICKED] * 3)
    turns = _turns(lm)
    told = _told(lm)
    assert len(told) == 6
    assert all(turn.usage.lm_calls == 2 for turn in turns)
    assert "Q1" not in told[0]
    assert f"Q1: {QUESTIONS[0]} -> {turns[0].answer}" in told[4]
    assert f"Q2: {QUESTIONS[1]} -> " in told[4]


def test_what_is_picked_is_what_later_turns_build_on() -> None:
    lm = DummyLM([UNDERSTOOD, {**PICKED, "choice": "4"}, UNDERSTOOD, PICKED])
    program = _program()
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        state = program.ask(program.start(ReportWorld(REPORT)), QUESTIONS[0])
    picked = state.turns[0].derivation
    assert picked is not None
    assert state.turns[0].pick == 3
    best = max(state.histories, key=lambda history: history.log_probability)
    assert _answer(best.turns[0].derivation) == picked.execute()
    others = [one for one in state.histories if _answer(one.turns[0].derivation) != picked.execute()]
    assert all(one.log_probability < best.log_probability - 2 for one in others), "they may still be gone back to"


def _answer(derivation: Derivation | None) -> object:
    assert derivation is not None
    return derivation.execute()


def test_asking_one_by_one_is_asking_all() -> None:
    program = _program()
    state = program.start(ReportWorld(REPORT))
    for question in QUESTIONS:
        state = program.ask(state, question)
    assert [turn.derivation for turn in state.turns] == [turn.derivation for turn in _turns()]


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
        turns = asyncio.run(dspy.asyncify(program)(report=REPORT, questions=QUESTIONS)).turns
    assert [turn.pick for turn in turns] == [1, 1, 1]
    assert all(turn.usage.lm_calls == 2 for turn in turns)


def test_a_state_is_not_changed_by_what_is_asked_next() -> None:
    program = _program()
    start = program.start(ReportWorld(REPORT))
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


def test_a_reply_that_cannot_be_read_does_not_end_the_conversation() -> None:
    broken = {"understanding": "hm"}
    turns = _turns(DummyLM([broken, broken, UNDERSTOOD, PICKED, UNDERSTOOD, PICKED]))
    assert [turn.failure for turn in turns] == ["no_valid_choice", None, None]


@pytest.mark.parametrize("with_model", [False, True])
def test_a_report_without_figures_fails_turn_by_turn(with_model: bool) -> None:
    turns = _turns(DummyLM([UNDERSTOOD] * 3) if with_model else None, EMPTY)
    assert [turn.failure for turn in turns] == ["empty_beam"] * 3


def test_a_report_that_cannot_be_read_fails_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program()

    def broken(report: Report, *_: object) -> None:
        raise DataError("it has no rows", place=f"report {report.id!r}")

    monkeypatch.setattr(program.turn.reader, "read", broken)
    turns = program(report=REPORT, questions=QUESTIONS).turns
    assert [(turn.question, turn.failure) for turn in turns] == [(question, "error") for question in QUESTIONS]
    assert turns[0].message == "DataError: report 'r': it has no rows"


PAST = [
    PastTurn(QUESTIONS[0], Derivation.parse("4.5%"), Decimal("0.045")),
    PastTurn(QUESTIONS[1], Derivation.parse("3.5%"), Decimal("0.035")),
    PastTurn(QUESTIONS[2], Derivation.parse("subtract(4.5%, 3.5%)"), Decimal("0.01")),
]


def test_given_answers_take_the_place_of_the_program_s_own() -> None:
    subtracting = {"understanding": MEANING.replace("select", "subtract")}
    lm = DummyLM([subtracting, PICKED] * 3)
    turns = _turns(lm, past=PAST)
    told = _told(lm)
    assert "Q1" not in told[0]
    assert f"Q1: {QUESTIONS[0]} -> 0.045\n" in told[2] + "\n"
    assert f"Q1: {QUESTIONS[0]} -> 0.045\nQ2: {QUESTIONS[1]} -> 0.035\n" in told[4]
    assert "0.01" not in told[4].partition("## candidates")[0], "a question never sees its own answer"
    programs = {str(candidate.derivation) for candidate in turns[2].candidates}
    assert "subtract(4.5%, 3.5%)" in programs


def test_the_answer_that_is_given_for_a_question_does_not_reach_it() -> None:
    other = [*PAST[:2], PastTurn(QUESTIONS[2], Derivation.parse("add(1, 1)"), Decimal(2))]
    assert [t.candidates for t in _turns(past=PAST)] == [t.candidates for t in _turns(past=other)]


def test_a_turn_is_remembered_without_its_candidates() -> None:
    turn = _turns()[0]
    assert turn.past() == PastTurn(turn.question, turn.derivation, turn.answer, turn.confidence)
