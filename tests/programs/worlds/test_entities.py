"""References resolved by a language model: held to the names in play, counted where it leaves them."""

from __future__ import annotations

import json
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from experiments.tasks import load_geography
from kg.questions.graph import EntityGraph
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.worlds.entities import EntityTurn

QUESTIONS = ["Which countries border Portugal?", "Could you tell me where its government sits?"]


@pytest.fixture(scope="module")
def graph() -> EntityGraph:
    return load_geography()


def _reply(canonical: str, referents: list[str], kind: str = "possessive") -> dict[str, str]:
    return {"resolved": json.dumps({"kind": kind, "referents": referents, "canonical": canonical})}


def _asked(graph: EntityGraph, *replies: dict[str, str], questions: list[str] = QUESTIONS) -> tuple[Any, Any]:
    program, lm = ConversationQA.for_graphs(), DummyLM(list(replies))
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turns: list[EntityTurn] = program(graph=graph, questions=questions).turns
    return turns, lm


def test_the_model_spells_out_what_the_graph_s_rules_do_not_know(graph: EntityGraph) -> None:
    turns, lm = _asked(graph, _reply("What is the capital of Portugal?", ["Portugal"]))
    assert turns[1].resolution.by == "language model"
    assert turns[1].answer == ("Lisbon",)
    assert turns[1].usage.lm_calls == 1
    assert (turns[1].understanding.refused, turns[0].usage.lm_calls) == ([], 0)
    told = lm.history[0]["messages"][-1]["content"]
    assert "Portugal (Country)" in told
    assert "capital: Lisbon" in told
    assert "Q1: Which countries border Portugal? -> Spain" in told


@pytest.mark.parametrize(
    "reply",
    [
        _reply("What is the capital of Norway?", ["Norway"]),
        _reply("What is the capital of Atlantis?", ["Atlantis"]),
        _reply("What is the capital of Norway?", ["Portugal"]),
    ],
)
def test_a_name_that_is_not_in_play_is_refused(graph: EntityGraph, reply: dict[str, str]) -> None:
    questions = [QUESTIONS[0], "What is its capital?"]
    turns, _ = _asked(graph, reply, questions=questions)
    assert len(turns[1].understanding.refused) == 1
    assert turns[1].resolution.by == "graph"
    assert "which is not in play" in turns[1].resolution.problem
    assert turns[1].answer == ("Lisbon",), "the graph resolves it"


def test_a_reply_that_cannot_be_read_is_counted(graph: EntityGraph) -> None:
    broken = {"resolved": "hm"}
    turns, _ = _asked(graph, broken, broken, questions=[QUESTIONS[0], "What is its capital?"])
    assert len(turns[1].understanding.refused) == 1
    assert turns[1].resolution.problem.startswith("AdapterParseError")
    assert turns[1].answer == ("Lisbon",)


def test_without_a_model_nobody_is_asked(graph: EntityGraph) -> None:
    turns = ConversationQA.for_graphs()(graph=graph, questions=[QUESTIONS[0], "What is its capital?"]).turns
    assert turns[1].answer == ("Lisbon",)
    assert turns[1].usage.lm_calls == 0


def test_one_question_with_a_history(graph: EntityGraph) -> None:
    program = BeamQA()
    first = program(graph=graph, question=QUESTIONS[0])
    second = program(graph=graph, question="What is its capital?", history=[first.turn])
    assert (first.answer, second.answer) == ("Spain", "Lisbon")
