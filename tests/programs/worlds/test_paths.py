"""The program for graph questions: with a scripted scorer and scripted models, and with the embedded one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dspy
import numpy as np
import pytest
from dspy.utils import DummyLM

from kg.graphs.index import GraphIndex
from kg.paths.scorer import FloatArray, RelationStep, TopicRules, masked_log_softmax
from kg.paths.space import PathConfig
from programs.kgqa import KGQA
from programs.worlds.paths import PathTurn

INDEX = GraphIndex.from_triples(
    [
        ("USA", "president", "Barack Obama"),
        ("USA", "president", "Joe Biden"),
        ("Barack Obama", "spouse", "Michelle Obama"),
        ("Joe Biden", "spouse", "Jill Biden"),
        ("USA", "capital", "Washington"),
        ("Barack Obama", "citizen_of", "USA"),
    ]
)
QUESTION = "who is married to a president of the USA?"
SPOUSES = ("president", "spouse")


@dataclass(frozen=True)
class Scripted:
    """Prefers some relation paths over all others."""

    preferred: Sequence[tuple[str, ...]] = (SPOUSES, ("capital",))
    rules: TopicRules = field(default_factory=TopicRules)

    def log_probabilities(self, step: RelationStep) -> FloatArray:
        names = (*step.relations, "STOP")
        scores = np.full((len(step.paths), len(names)), -4.0, dtype=np.float32)
        for row, path in enumerate(step.paths):
            taken = tuple(step.relations[number] for number in path)
            for place, preferred in enumerate(self.preferred):
                if preferred[: len(taken)] == taken:
                    column = {name: number for number, name in enumerate(names)}.get((*preferred, "STOP")[len(taken)])
                    if column is not None:
                        scores[row, column] = max(scores[row, column], 2.0 - place)
        scores[:, :-1][~step.offered] = -np.inf
        if step.depth == 0:
            scores[:, -1] = -np.inf
        return masked_log_softmax(scores)


def ask(topics: Sequence[str] = ("USA",), question: str = QUESTION, **settings: Any) -> PathTurn:
    program = KGQA(Scripted(**settings), PathConfig(beam_width=10, max_depth=2, answer_threshold=0.0))
    result: PathTurn = program(question=question, graph=INDEX, topics=topics).turn
    return result


def test_every_entity_that_the_chosen_path_reaches_is_an_answer() -> None:
    result = ask()
    assert set(result.detail.chosen) == {"Michelle Obama", "Jill Biden"}
    assert {name for name, _ in result.detail.answers[:2]} == {"Jill Biden", "Michelle Obama"}
    assert all(0 <= confidence <= 1 for _, confidence in result.detail.answers)
    assert (
        "# Reasoning Path:\nUSA -> president -> Barack Obama -> spouse -> Michelle Obama\n# Answer:\nMichelle Obama"
        in result.detail.predictions
    )
    assert "USA -> president -> Joe Biden -> spouse -> Jill Biden" in [path for path, _ in result.detail.raw_paths[:2]]
    assert all(score <= 0 for _, score in result.detail.raw_paths)
    assert set(result.detail.reasoning_trace) == {
        "total_paths_explored",
        "completed_paths",
        "max_depth_reached",
        "backtrack_count",
    }
    assert result.detail.reasoning_trace["max_depth_reached"] == 2
    assert (result.failure, result.usage.lm_calls) == (None, 0)


def test_topics_are_linked_where_none_are_given() -> None:
    result = ask(topics=())
    assert result.detail.topics.entities == ("USA",)
    assert set(result.detail.chosen) == {"Michelle Obama", "Jill Biden"}


@pytest.mark.parametrize(
    ("topics", "question", "message"),
    [
        ((), "who sings?", "the question names no entity of the graph"),
        (("Atlantis",), QUESTION, "the graph has no entity 'Atlantis'"),
    ],
)
def test_without_a_topic_there_is_a_typed_failure(topics: tuple[str, ...], question: str, message: str) -> None:
    result = ask(topics=topics, question=question)
    assert (result.failure, result.message, result.detail.answers) == ("no_topic", message, ())


def test_an_empty_beam_is_a_typed_failure() -> None:
    # Nothing leads on from there but back to the topic.
    index = GraphIndex.from_triples([("a", "r", "a")])
    result = KGQA(Scripted())(question="a?", graph=index, topics=["a"]).turn
    assert result.failure == "empty_beam"
    assert result.detail.reasoning_trace["completed_paths"] == 0


def replies(*texts: Mapping[str, Any]) -> DummyLM:
    return DummyLM(
        [
            {key: json.dumps(value) if isinstance(value, list) else value for key, value in text.items()}
            for text in texts
        ]
    )


def test_a_model_takes_one_call_and_all_entities_of_the_chosen_paths() -> None:
    with dspy.context(lm=(lm := replies({"chosen": [2, 1]}))):
        result = ask()
    assert result.usage.lm_calls == len(lm.history) == 1
    assert result.detail.answers[0][0] == "Washington"
    assert set(result.detail.chosen) == {"Washington", "Michelle Obama", "Jill Biden"}
    shown = str(lm.history[0]["messages"])
    assert "1. USA -> president -> " in shown
    assert "(and 1 more)" in shown


@pytest.mark.parametrize(("chosen", "failure"), [([], "picked_none"), ([99], "no_valid_choice")])
def test_a_choice_refuses_what_is_no_number_of_a_path(chosen: list[int], failure: str) -> None:
    with dspy.context(lm=replies(*[{"chosen": chosen}] * 3)):
        result = ask()
    assert (result.failure, result.answer) == (failure, None)
