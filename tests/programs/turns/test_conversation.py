"""Conversations over any turn program: history, reset, and going on after a save as if nothing had happened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from experiments.data.conversations import load_conversations
from experiments.tasks.geography import load_geography
from kg.coreference.entities import Resolution
from kg.coreference.turns import ReferenceModel
from kg.derivations.search import DerivationConfig
from kg.errors import DataError
from kg.graphs.context import GraphContext
from kg.questions.graph import EntityGraph
from kg.reports.ontology import build_ontology
from kg.reports.report import Report
from programs.graphs.dialogue import EntityTurns
from programs.graphs.entity_qa import EntityQA
from programs.registry import create_program
from programs.reports.dialogue import ReportTurns
from programs.turns.conversation import Conversation, Exchange

REPORT = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4.5%", "3.5%")), ())
MODEL = ReferenceModel({"1": -10.0, "w:chang.d1": 20.0, "w:chang.d2": 20.0, "w:that.d1": 20.0})
QUESTIONS = ["what was net income in 2009?", "and in 2008?", "what is the change?", "what is that as a ratio?"]
GEOGRAPHY = [
    "Which countries border Germany?",
    "What about France?",
    "What is its capital?",
    "Which one has the largest population?",
    "And the area?",
    "How many neighbours does it have?",
]


class Counter:
    """The smallest turn program there is: it counts the questions."""

    kind, source = "counter", "nothing"

    def begin(self) -> int:
        return 0

    def reply(self, state: int, question: str, exchanges: Sequence[Exchange]) -> tuple[int, Exchange]:
        assert len(exchanges) == state
        failure = "error" if question == "fail" else None
        answer = "" if failure else str(state + 1)
        return state + 1, Exchange(question, Resolution(question, question.upper()), answer, failure)

    def record(self, state: int, exchanges: Sequence[Exchange]) -> Mapping[str, Any]:
        return {"questions": [one.question for one in exchanges]}

    def restore(self, record: Mapping[str, Any]) -> tuple[int, tuple[Exchange, ...]]:
        state, exchanges = 0, ()
        for question in record["questions"]:
            state, exchange = self.reply(state, question, exchanges)
            exchanges = (*exchanges, exchange)
        return state, exchanges


@pytest.fixture(scope="module")
def graph() -> EntityGraph:
    return load_geography()


def _report_turns() -> ReportTurns:
    program = create_program(
        "beam", ontology=build_ontology([REPORT]), config=DerivationConfig(beam_width=10, histories=3)
    )
    return ReportTurns(program, REPORT, MODEL)


def test_any_turn_program_will_do() -> None:
    conversation = Conversation(Counter())
    assert conversation.context == GraphContext()
    assert [conversation.ask(question).answer for question in ("a", "fail", "b")] == ["1", "", "3"]
    assert conversation.history == (("A", "1"), ("FAIL", ""), ("B", "3"))
    assert conversation.failures == 1
    assert Conversation.from_json(Counter(), conversation.to_json()).ask("c").answer == "4"
    conversation.reset()
    assert conversation.exchanges == ()
    assert conversation.ask("a").answer == "1"


@pytest.mark.parametrize("stop", range(len(GEOGRAPHY)))
def test_a_saved_conversation_about_a_graph_goes_on_as_if_never_stopped(graph: EntityGraph, stop: int) -> None:
    whole, half = Conversation(EntityTurns(EntityQA(), graph)), Conversation(EntityTurns(EntityQA(), graph))
    for question in GEOGRAPHY:
        whole.ask(question)
    for question in GEOGRAPHY[:stop]:
        half.ask(question)
    loaded = Conversation.from_json(EntityTurns(EntityQA(), load_geography()), half.to_json())
    assert json.loads(loaded.to_json()) == json.loads(half.to_json())
    for question in GEOGRAPHY[stop:]:
        loaded.ask(question)
    assert loaded.history == whole.history
    assert [one.resolution for one in loaded.exchanges] == [one.resolution for one in whole.exchanges]
    assert [_entities(one) for one in loaded.exchanges] == [_entities(one) for one in whole.exchanges]


def _entities(exchange: Exchange) -> list[str]:
    return [entity.node for entity in exchange.context.entities]


@pytest.mark.parametrize("stop", range(len(QUESTIONS)))
def test_a_saved_conversation_about_a_report_goes_on_with_its_kept_histories(stop: int) -> None:
    whole, half = Conversation(_report_turns()), Conversation(_report_turns())
    for question in QUESTIONS:
        whole.ask(question)
    for question in QUESTIONS[:stop]:
        half.ask(question)
    loaded = Conversation.from_json(_report_turns(), half.to_json())
    assert loaded._state.histories == half._state.histories or stop == 0
    for question in QUESTIONS[stop:]:
        loaded.ask(question)
    for one, other in zip(loaded.exchanges, whole.exchanges, strict=True):
        usage = other.turn.usage
        assert replace(one.turn, usage=usage) == other.turn
        assert one.resolution == other.resolution
        assert one.context.entities == other.context.entities


def test_a_report_s_conversation_answers_as_the_program_does() -> None:
    turns = _report_turns()
    conversation = Conversation(turns)
    for question in QUESTIONS:
        conversation.ask(question)
    plain = turns.program(report=REPORT, questions=QUESTIONS).turns
    assert [one.turn.answer for one in conversation.exchanges] == [turn.answer for turn in plain]


def test_a_report_s_follow_ups_are_spelled_out() -> None:
    conversation = Conversation(_report_turns())
    found = [conversation.ask(question).resolution for question in QUESTIONS]
    assert [one.kind for one in found] == ["none", "ellipsis", "result", "result"]
    assert found[1].canonical == "what was net income in 2008?"
    assert found[2].canonical == "what is the change between net income in 2009 and net income in 2008?"
    assert (found[2].turns, found[3].turns) == ((0, 1), (2,))
    assert found[3].canonical.endswith("as a ratio?")
    assert conversation.context.entities


def test_real_sample_conversations_survive_saving(graph: EntityGraph) -> None:
    reports = load_conversations("sample:dev").conversations[:3]
    ontology = build_ontology(one.report for one in reports)
    for one in reports:
        turns = ReportTurns(create_program("beam", ontology=ontology), one.report, MODEL)
        conversation = Conversation(turns)
        for question in one.questions:
            conversation = Conversation.from_json(turns, conversation.to_json())
            conversation.ask(question)
        plain = turns.program(report=one.report, questions=list(one.questions)).turns
        assert [turn.answer for turn in plain] == [exchange.turn.answer for exchange in conversation.exchanges]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "must be JSON"),
        ("[]", "must have format 1"),
        ('{"format": 2}', "must have format 1"),
        ('{"format": 1, "kind": "graph", "source": "x"}', "about kind 'graph', not 'counter'"),
        ('{"format": 1, "kind": "counter", "source": "x"}', "about source 'x', not 'nothing'"),
        ('{"format": 1, "kind": "counter", "source": "nothing"}', "is damaged: KeyError"),
    ],
)
def test_what_is_no_saved_conversation_is_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Conversation.from_json(Counter(), text)


def test_a_conversation_about_another_report_is_refused() -> None:
    text = Conversation(_report_turns()).to_json().replace('"r"', '"another"')
    with pytest.raises(DataError, match="about source 'another', not 'r'"):
        Conversation.from_json(_report_turns(), text)
