"""The program for graph questions: with a scripted scorer and scripted models, and with the embedded one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy
import numpy as np
import pytest
from dspy.utils import DummyLM

from kg.graphs.index import GraphIndex
from kg.paths.scorer import FloatArray, LearnedRelationScorer, RelationStep, masked_log_softmax
from programs.aggregate import EvidenceConfig
from programs.beam import BeamQA
from programs.worlds.graph import GraphConfig, GraphReader, GraphTurn
from signatures.queries import UnderstandGraph

INDEX_TRIPLES = [
    ("USA", "president", "Barack Obama"),
    ("USA", "president", "Joe Biden"),
    ("Barack Obama", "spouse", "Michelle Obama"),
    ("Joe Biden", "spouse", "Jill Biden"),
    ("USA", "capital", "Washington"),
    ("Barack Obama", "citizen_of", "USA"),
]
INDEX = GraphIndex.from_triples(INDEX_TRIPLES)
QUESTION = "who is married to a president of the USA?"
SPOUSES = ("president", "spouse")


@dataclass(frozen=True)
class Scripted:
    """Prefers some relation paths over all others."""

    preferred: Sequence[tuple[str, ...]] = (SPOUSES, ("capital",))
    may_return: bool = False
    conditions: float = 5.0
    trained_on: str = ""

    def open_words(self, question: str, topics: Sequence[str]) -> list[str]:
        return question.split()

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


def program_of(scorer: Any = None, config: GraphConfig | None = None) -> BeamQA:
    """A program that never abstains."""
    reader = GraphReader(scorer if scorer is not None else LearnedRelationScorer.untrained())
    config = config if config is not None else GraphConfig()
    return BeamQA(reader, config, EvidenceConfig(answer="always"), signature=UnderstandGraph)


def ask(topics: Sequence[str] = ("USA",), question: str = QUESTION, **settings: Any) -> GraphTurn:
    program = program_of(Scripted(**settings), GraphConfig(beam_width=10, max_depth=2, answer_threshold=0.0))
    result: GraphTurn = program(question=question, graph=INDEX, topics=topics).turn
    return result


def test_every_entity_that_the_chosen_path_reaches_is_an_answer() -> None:
    result = ask()
    assert set(result.detail.nodes) == {"Michelle Obama", "Jill Biden"}
    assert {name for name, _ in result.detail.answers[:2]} == {"Jill Biden", "Michelle Obama"}
    assert all(0 <= confidence <= 1 for _, confidence in result.detail.answers)
    assert (
        "# Reasoning Path:\nUSA -> president -> Barack Obama -> spouse -> Michelle Obama\n# Answer:\nMichelle Obama"
        in result.detail.predictions
    )
    assert "USA -> president -> Joe Biden -> spouse -> Jill Biden" in [path for path, _ in result.detail.raw_paths[:2]]
    assert all(score <= 0 for _, score in result.detail.raw_paths)
    keys = {"total_paths_explored", "completed_paths", "max_depth_reached", "backtrack_count"}
    assert result.detail.reasoning_trace.keys() == keys
    assert result.detail.reasoning_trace["max_depth_reached"] == 2
    assert (result.failure, result.usage.lm_calls) == (None, 0)


def test_the_spouse_of_the_44th_president_is_one_person() -> None:
    index = GraphIndex.from_triples([*INDEX_TRIPLES, ("Barack Obama", "ordinal", "44"), ("Joe Biden", "ordinal", "46")])
    question = "who is the spouse of the 44th president of the USA?"
    turn = program_of()(question=question, graph=index).turn
    assert turn.answer == ("Michelle Obama",)
    assert turn.detail.raw_paths[0][0] == "USA -> president -> Barack Obama -> spouse -> Michelle Obama"
    for question in ("the captain of the USA?", "who is the tailor of the 44th president of the USA?", "the USA?"):
        assert program_of()(question=question, graph=index).turn.confidence < 0.6 < turn.confidence


def test_a_question_that_names_no_entity_is_about_the_last_answer() -> None:
    program = program_of()
    index = GraphIndex.from_triples([*INDEX_TRIPLES, ("Barack Obama", "ordinal", "44")])
    state = program.ask(program.world(graph=index).start(), "who is the 44th president of the USA?")
    turn = program.ask(state, "and who is the spouse?").turns[-1]
    assert turn.answer == ("Michelle Obama",)
    assert (turn.resolution.referents, turn.resolution.turns) == (("Barack Obama",), (0,))
    program.evidence = EvidenceConfig()
    assert program.ask(state, "who is Atlantis?").turns[-1].failure == "picked_none"
    again = program.world(graph=index).start(state.turns)
    assert program.ask(again, "and who is the spouse?").turns[-1].answer == turn.answer


def test_topics_are_linked_where_none_are_given() -> None:
    result = ask(topics=())
    assert result.detail.topics.entities == ("USA",)
    assert set(result.detail.nodes) == {"Michelle Obama", "Jill Biden"}


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
    result = program_of(Scripted())(question="a?", graph=index, topics=["a"]).turn
    assert result.failure == "empty_beam"
    assert result.detail.reasoning_trace["completed_paths"] == 0


def replies(*steps: Sequence[Mapping[str, Any]]) -> DummyLM:
    return DummyLM([{"steps": json.dumps(some), "confidence": "90"} for some in steps])


def step(path: int, action: str, *relations: str) -> dict[str, Any]:
    return {"path": path, "action": action, "relations": relations}


def numbers(lm: DummyLM, call: int) -> dict[str, int]:
    """The paths of a prompt, with their numbers."""
    shown = lm.history[call]["messages"][-1]["content"].split("## paths ##")[1].split("[[ ##")[0]
    return {line.partition(". ")[2]: int(line.partition(". ")[0]) for line in shown.splitlines() if ". " in line}


JILL = "USA -> president -> Joe Biden -> spouse -> Jill Biden"


def test_a_model_answers_by_paths_of_entities_whose_facts_it_sees() -> None:
    with dspy.context(lm=(lm := replies([step(3, "ANSWER")]))):
        result = ask()
    assert numbers(lm, 0)[JILL] == 2
    assert (result.answer, result.confidence, result.usage.lm_calls) == (("Michelle Obama",), 0.9, 1)
    assert result.detail.raw_paths[0][0] == "USA -> president -> Barack Obama -> spouse -> Michelle Obama"
    assert "Barack Obama: spouse Michelle Obama; citizen_of USA" in lm.history[0]["messages"][-1]["content"]


def test_a_model_takes_all_entities_of_a_relation_path_at_once() -> None:
    with dspy.context(lm=(lm := replies([step(4, "ANSWER")]))):
        result = ask()
    assert numbers(lm, 0)["all 2 entities of USA -> president -> spouse"] == 4
    assert set(result.answer or ()) == {"Michelle Obama", "Jill Biden"}


def test_a_model_follows_entities_that_the_beam_did_not() -> None:
    capital = [("capital",)]
    with dspy.context(
        lm=(lm := replies([step(1, "CONTINUE", "president")], [step(2, "CONTINUE", "spouse")], [step(1, "ANSWER")]))
    ):
        program = program_of(Scripted(capital), GraphConfig(max_depth=2, beam_width=1, answer_threshold=0.5))
        result = program(question="wife of the forty-sixth president of the USA?", graph=INDEX, topics=["USA"]).turn
    assert (result.answer, result.usage.lm_calls) == (("Jill Biden",), 3)
    assert list(numbers(lm, 2)) == [JILL]
    assert result.detail.raw_paths[0][0] == JILL


def test_a_model_that_only_follows_on_stops_at_its_budget_and_one_that_backtracks_sees_the_next_paths() -> None:
    settings = GraphConfig(max_depth=2, output_top_k=1, answer_threshold=0.0)
    chain = GraphIndex.from_triples([(f"n{place}", "next", f"n{place + 1}") for place in range(9)])
    with dspy.context(lm=replies(*[[step(1, "CONTINUE", "next")]] * 9)):
        result = program_of(Scripted(), settings)(question="the last?", graph=chain, topics=["n0"]).turn
    assert (result.failure, result.usage.lm_calls) == ("picked_none", 3)
    with dspy.context(lm=(lm := replies([step(1, "BACKTRACK")], [step(1, "ANSWER")]))):
        result = program_of(Scripted(), settings)(question=QUESTION, graph=INDEX, topics=["USA"]).turn
    assert (result.answer, list(numbers(lm, 1))) == (("Washington",), ["USA -> capital -> Washington"])
    assert result.detail.reasoning_trace["backtrack_count"] > 0


@pytest.mark.parametrize(
    ("steps", "failure"),
    [
        ([], "picked_none"),
        ([step(99, "ANSWER")], "no_valid_choice"),
        ([step(1, "ANSWER")], "picked_none"),  # the topic
        ([step(1, "CONTINUE", "Atlantis")], "picked_none"),
        ([step(1, "GUESS")], "no_valid_choice"),
    ],
)
def test_what_a_model_names_that_is_not_there_is_a_typed_failure(steps: list[dict[str, Any]], failure: str) -> None:
    with dspy.context(lm=replies(*[steps] * 4)):
        result = ask()
    assert (result.failure, result.answer) == (failure, None)


def test_an_empty_graph_and_a_cycle_are_typed_results() -> None:
    program = program_of()
    assert program(question="who?", graph=GraphIndex.from_triples([]), topics=["USA"]).turn.failure == "no_topic"
    ring = GraphIndex.from_triples([("a", "next", "b"), ("b", "next", "c"), ("c", "next", "a")])
    turn = program(question="what is next of a?", graph=ring, topics=["a"]).turn
    assert turn.answer == ("b",)
    with dspy.context(lm=(lm := replies([step(2, "ANSWER")]))):
        assert program(question="what is next of a?", graph=ring, topics=["a"]).turn.answer == ("b",)
    assert all(len({*path.split(" -> ")[::2]}) == len(path.split(" -> ")[::2]) for path in numbers(lm, 0))
