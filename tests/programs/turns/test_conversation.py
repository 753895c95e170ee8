"""Conversations over any turn program: history, reset, and going on after a save as if nothing had happened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from kg.calculations.turn_search import DerivationConfig
from kg.errors import DataError
from kg.parsing import QuestionReader
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from programs.conversation import ConversationQA
from programs.turns.conversation import AnyTurn, Conversation, Kept, State
from programs.turns.turn import Resolution, Turn
from programs.worlds.base import World
from programs.worlds.report import ReportWorld

REPORT = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4.5%", "3.5%")), ())
QUESTIONS = ["what was net income in 2009?", "and in 2008?", "what is the change?", "what is that as a ratio?"]
GEOGRAPHY = [
    "Which countries border Germany?",
    "What about France?",
    "What is its capital?",
    "Which one has the largest population?",
    "And the area?",
    "How many neighbours does it have?",
]


class Nothing:
    """The smallest world there is."""

    kind, name = "counter", "nothing"


class Counter:
    """The smallest program there is: it counts the questions."""

    needs_lm = False

    def start(self, world: Nothing, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> State[Nothing]:
        assert not kept
        return State(world, tuple(turns))

    def ask(self, state: State[Nothing], question: str) -> State[Nothing]:
        resolution = Resolution(question, question.upper())
        if question == "fail":
            return state.after(Turn(question, failure="error", resolution=resolution))
        words = str(len(state.turns) + 1)
        return state.after(Turn(question, answer=Decimal(words), words=words, resolution=resolution))


def _of_report() -> tuple[ConversationQA, ReportWorld]:
    program = ConversationQA.unfitted(build_ontology([REPORT]), config=DerivationConfig(beam_width=10, histories=3))
    return program, program.world(REPORT)


def _of_graph(graph: QuestionReader) -> tuple[ConversationQA, World]:
    program = ConversationQA.for_graphs()
    return program, program.world(graph=graph)


def test_any_turn_program_will_do() -> None:
    conversation = Conversation(Counter(), Nothing())
    assert [conversation.ask(question).words for question in ("a", "fail", "b")] == ["1", "", "3"]
    assert conversation.history == (("A", "1"), ("FAIL", ""), ("B", "3"))
    assert conversation.failures == 1
    assert Conversation.from_json(Counter(), Nothing(), conversation.to_json()).ask("c").words == "4"
    conversation.reset()
    assert conversation.turns == ()
    assert conversation.ask("a").words == "1"


@pytest.mark.parametrize("stop", [1, 4])
def test_a_saved_conversation_about_a_graph_goes_on_as_if_never_stopped(geography: QuestionReader, stop: int) -> None:
    whole, half = Conversation(*_of_graph(geography)), Conversation(*_of_graph(geography))
    for question in GEOGRAPHY:
        whole.ask(question)
    for question in GEOGRAPHY[:stop]:
        half.ask(question)
    loaded = Conversation.from_json(*_of_graph(geography), half.to_json())
    assert json.loads(loaded.to_json()) == json.loads(half.to_json())
    for question in GEOGRAPHY[stop:]:
        loaded.ask(question)
    assert loaded.history == whole.history
    assert [one.resolution for one in loaded.turns] == [one.resolution for one in whole.turns]
    assert [_entities(one) for one in loaded.turns] == [_entities(one) for one in whole.turns]


def _entities(turn: AnyTurn) -> list[str]:
    return [entity.node for entity in turn.context.entities]


@pytest.mark.parametrize("stop", [0, 2])
def test_a_saved_conversation_about_a_report_goes_on_with_its_kept_histories(stop: int) -> None:
    whole, half = Conversation(*_of_report()), Conversation(*_of_report())
    for question in QUESTIONS:
        whole.ask(question)
    for question in QUESTIONS[:stop]:
        half.ask(question)
    loaded = Conversation.from_json(*_of_report(), half.to_json())
    assert loaded.state.histories == half.state.histories or stop == 0
    for question in QUESTIONS[stop:]:
        loaded.ask(question)
    for one, other in zip(loaded.turns, whole.turns, strict=True):
        contexts = one.context.entities, other.context.entities
        assert contexts[0] == contexts[1]
        assert replace(one, usage=other.usage, context=other.context) == other


def test_a_report_s_follow_ups_say_which_turns_they_use() -> None:
    conversation = Conversation(*_of_report())
    found = [conversation.ask(question).resolution for question in QUESTIONS]
    assert [one.turns if one is not None else () for one in found] == [(), (0,), (1,), (2,)]
    assert conversation.turns[-1].context.entities


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "must be JSON"),
        ("[]", "must have format 2"),
        ('{"format": 1}', "must have format 2"),
        ('{"format": 2, "kind": "graph", "source": "x"}', "about kind 'graph', not 'counter'"),
        ('{"format": 2, "kind": "counter", "source": "x"}', "about source 'x', not 'nothing'"),
        ('{"format": 2, "kind": "counter", "source": "nothing"}', "is damaged: KeyError"),
    ],
)
def test_what_is_no_saved_conversation_is_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Conversation.from_json(Counter(), Nothing(), text)
