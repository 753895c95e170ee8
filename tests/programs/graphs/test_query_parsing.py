"""Questions about any graph parsed by a language model: held to the graph's names, competing with the beam."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from kg.parsing import Reading
from programs.beam import ConversationQA
from programs.graphs import ReplyConfidence
from programs.turns import Conversation
from programs.worlds.graph import GraphConfig
from tests.programs.graphs.ships import ships

CONFIG = GraphConfig(today=date(2026, 1, 1))


def _query(start: str, *steps: tuple[str, str, str], answer: str = "entities or values") -> dict[str, str]:
    written = [{"operation": one, "relation": relation, "value": value} for one, relation, value in steps]
    return {"query": json.dumps({"start": start, "steps": written, "answer": answer})}


def _asked(question: str, *replies: dict[str, str]) -> tuple[Any, Any]:
    program, lm = ConversationQA.for_graphs(CONFIG), DummyLM(list(replies))
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turn = Conversation(program, program.world(graph=ships())).ask(question)
    return turn, lm


def test_the_model_s_parse_answers_what_the_beam_does_not() -> None:
    reply = _query("Quillhaven", ("follow back", "home port", ""), ("largest", "length", ""))
    turn, lm = _asked("which Quillhaven hull outsizes the rest?", reply)
    assert turn.answer == ("Bellwether",)
    assert turn.detail.path == "max(Quillhaven -> ^home port, length)"
    assert (turn.usage.lm_calls, turn.understanding.refused) == (1, [])
    told = lm.history[0]["messages"][-1]["content"]
    assert "captain: Larkspur (ship) -> Mara Stenhouse (person)" in told
    assert "ship (2)" in told


@pytest.mark.parametrize(
    "reply",
    [
        _query("Titanic", ("follow", "captain", "")),
        _query("ship", ("follow", "tonnage", "")),
        _query("ship", ("only", "captain", "Nobody")),
        _query("ship", ("more than", "length", "very")),
        {"query": "no query"},
    ],
)
def test_replies_outside_of_the_graph_are_refused(reply: dict[str, str]) -> None:
    turn, _ = _asked("zzz qqq ship xxx?", reply, reply)
    assert turn.answer is None
    assert len(turn.understanding.refused) == 1


def test_a_reply_may_choose_one_of_the_beam_s_readings() -> None:
    first, lm = _asked("which Quillhaven hull outsizes the rest?", {"query": json.dumps({"reading": 2})})
    shown = lm.history[0]["messages"][-1]["content"]
    second = next(line for line in shown.splitlines() if line.startswith("2. "))
    assert first.answer == tuple(second.rpartition(" = ")[2].split(", "))
    beyond = {"query": json.dumps({"reading": 99})}
    turn, _ = _asked("which Quillhaven hull outsizes the rest?", beyond, beyond)
    assert (turn.answer, len(turn.understanding.refused)) == (None, 1)


def test_a_confident_beam_asks_no_model() -> None:
    turn, lm = _asked("What is the length of the Bellwether?")
    assert turn.answer == Decimal(88)
    assert not lm.history


def test_a_later_reply_may_start_at_an_earlier_answer_and_names_written_alike_are_shown() -> None:
    first = _query("ship", ("only", "home port", "Quillhaven"))
    second = _query("answer 1", ("smallest", "length", ""))
    program, lm = ConversationQA.for_graphs(CONFIG), DummyLM([first, second])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        conversation = Conversation(program, program.world(graph=ships()))
        assert set(conversation.ask("which hulls hail from Quilhaven?").answer) == {"Larkspur", "Bellwether"}
        assert conversation.ask("zzz of these outsizes none?").answer == ("Larkspur",)
    shown = [one["messages"][-1]["content"] for one in lm.history]
    assert "Quillhaven" in shown[0].partition("[[ ## entities ## ]]")[2].partition("[[ ##")[0].split("; ")[0]
    assert "1. which hulls hail from Quilhaven? -> Larkspur, Bellwether (answer 1)" in shown[1]


READER = ships()
READING = READER.read("What is the length of the Bellwether?", today=date(2026, 1, 1))
FIRST, LATER = READING.parses[0], READING.parses[1]
OWN = replace(FIRST, nodes=(0, 1, 2))
NONE = replace(FIRST, nodes=())


def _at(confidence: float) -> Reading:
    return replace(READING, confidence=confidence)


def test_agreement_raises_the_confidence_and_disagreement_lowers_that_of_the_beam() -> None:
    own = ReplyConfidence()
    for beam in (0.2, 0.5, 0.7):
        assert own.joined(_at(beam), FIRST).confidence > beam
        assert own.joined(_at(beam), NONE).confidence < beam
        assert own.joined(_at(beam), None) == _at(beam)
    unsure, sure = own.joined(_at(0.1), OWN), own.joined(_at(0.79), OWN)
    assert unsure.parses[0] == sure.parses[0] == OWN
    assert unsure.confidence > sure.confidence


def test_a_later_reading_becomes_the_first_and_stays_once() -> None:
    found = ReplyConfidence().joined(_at(0.3), LATER)
    assert found.parses[0] is LATER
    assert sorted(map(id, found.parses)) == sorted(map(id, READING.parses))
