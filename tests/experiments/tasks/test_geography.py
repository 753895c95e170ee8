"""The graph that ships: what it must hold, and the conversations about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.bench_followups import is_right, load_geography
from kg.parsing import QuestionReader
from programs.beam import ConversationQA
from programs.turns import Conversation
from programs.worlds.graph import GraphWorld

ROOT = Path(__file__).resolve().parents[3]
FOLLOW_UPS = json.loads((ROOT / "benchmarks" / "geography_followups.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def graph() -> QuestionReader:
    return load_geography()


def test_an_answer_that_is_not_the_expected_one_is_wrong(graph: QuestionReader) -> None:
    turn = Conversation(ConversationQA.for_graphs(), GraphWorld(graph)).ask("What is the capital of Norway?")
    assert is_right(turn, {"entities": ["Oslo"]})
    assert not is_right(turn, {"entities": ["Oslo", "Bergen"]})
    assert not is_right(turn, {"value": "700000"})
    assert not is_right(Conversation(ConversationQA.for_graphs(), GraphWorld(graph)).ask("hm?"), {"entities": []})


def test_most_follow_ups_are_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.saved.parse_reader", lambda: None)  # the extra is not there everywhere
    graph, right = load_geography(), 0
    for one in FOLLOW_UPS:
        conversation = Conversation(ConversationQA.for_graphs(), GraphWorld(graph))
        for question in one["before"]:
            conversation.ask(question)
        right += is_right(conversation.ask(one["question"]), one)
    assert right >= 40
