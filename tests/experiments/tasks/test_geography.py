"""The conversations about the graph that ships."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.bench_followups import is_right
from kg.parsing import QuestionReader
from programs.conversation import ConversationQA
from programs.turns import Conversation
from programs.worlds.graph import GraphWorld

ROOT = Path(__file__).resolve().parents[3]
FOLLOW_UPS = json.loads((ROOT / "benchmarks" / "geography_followups.json").read_text(encoding="utf-8"))


def test_most_follow_ups_are_resolved(geography: QuestionReader) -> None:
    right = 0
    for one in FOLLOW_UPS[::2]:
        conversation = Conversation(ConversationQA.for_graphs(), GraphWorld(geography))
        for question in one["before"]:
            conversation.ask(question)
        right += is_right(conversation.ask(one["question"]), one)
    assert right >= 20
