"""The task of questions about graphs: evaluation, its journal, saved programs."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from dspy.utils import DummyLM

from experiments.data import LoadedGraph, LoadedQuestions
from experiments.evaluation import Evaluation, EvaluationConfig, evaluate
from experiments.kgqa import KGQuestions, fit_graphs
from experiments.lms.config import LMConfig
from experiments.saved import SavedProgram, load_program, save_program, with_program_settings
from experiments.tracking import Tracker
from kg.errors import DataError
from optimize.metrics import KGQAScore
from programs.conversation import ConversationQA
from programs.worlds.graph import GraphConfig
from tests.experiments.films import GRAPH, QUESTIONS

LOADED = LoadedQuestions(QUESTIONS, ("q.txt: line 9: is not UTF-8",), "q.txt", "0" * 64)


def evaluated(
    saved: SavedProgram,
    graph: LoadedGraph = GRAPH,
    loaded: LoadedQuestions = LOADED,
    *,
    predictions: Path | None = None,
    tracker: Tracker | None = None,
    resume: bool = False,
    **settings: Any,
) -> Evaluation[Any, KGQAScore]:
    task = KGQuestions(graph, loaded, predictions=predictions)
    return evaluate(saved, task, EvaluationConfig(**settings), tracker=tracker, resume=resume)


@pytest.fixture(scope="module")
def program() -> ConversationQA:
    return fit_graphs(GRAPH.graph, QUESTIONS, GraphConfig(max_depth=2))


@pytest.fixture
def saved(program: ConversationQA) -> SavedProgram:
    return SavedProgram(program, "films-qa", Path(), {"scorer_sha256": "1" * 64})


def test_what_was_fitted_answers(saved: SavedProgram) -> None:
    figures = evaluated(saved).figures
    assert figures["hit_at_1"] == figures["f1"] == 1.0
    assert (figures["questions"], figures["failed_questions"], figures["unreadable_questions"]) == (16, 1, 1)
    assert figures["seconds_per_question_p95"] >= figures["seconds_per_question_p50"] > 0
    assert (figures["lm_calls"], figures["lm"], figures["program"]) == (0, "none", "films-qa")


def test_a_question_that_fails_costs_itself_only(saved: SavedProgram) -> None:
    odd = dataclasses.replace(QUESTIONS[0], id="odd", topics=("Atlantis",))
    loaded = dataclasses.replace(LOADED, questions=(odd, *QUESTIONS[:3]), problems=())
    evaluation = evaluated(saved, GRAPH, loaded)
    assert [score.failure for score in evaluation.scores] == ["no_topic", None, None, None]
    assert (evaluation.figures["hit_at_1"], evaluation.figures["failed_questions"]) == (0.75, 1)
    assert evaluation.figures["failures_no_topic"] == 1


def test_predictions_are_what_gcr_reads(saved: SavedProgram, tmp_path: Path) -> None:
    file = tmp_path / "out" / "p.jsonl"
    evaluated(saved, GRAPH, LOADED, predictions=file, limit=2)
    first, _ = (json.loads(line) for line in file.read_text("utf-8").splitlines())
    assert list(first) == ["id", "question", "prediction", "ground_truth", "ground_truth_paths", "reasoning_trace"]
    assert first["prediction"][0] == "# Reasoning Path:\nfilm0 -> directed_by -> person0\n# Answer:\nperson0"
    assert first["ground_truth"] == ["person0"]
    assert first["ground_truth_paths"] == ["film0 -> directed_by -> person0"]
    assert list(first["reasoning_trace"]) == [
        "total_paths_explored",
        "completed_paths",
        "max_depth_reached",
        "backtrack_count",
    ]


@pytest.mark.parametrize("threads", [1, 4])
def test_models_are_asked_and_counted(
    saved: SavedProgram, tracker: Tracker, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    lm = DummyLM([{"steps": '[{"path": 2, "action": "ANSWER"}]', "confidence": "90"}] * 16)
    monkeypatch.setattr("experiments.evaluation.reach_lm", lambda *_: {"lm": lm})
    evaluation = evaluated(saved, tracker=tracker, lm=LMConfig("openai/scripted"), threads=threads)
    [trace] = tracker.client.search_traces([tracker.experiment("kgqa")], max_results=1)
    names = {span.span_id: span.name for span in trace.data.spans}
    parents = {span.name: names.get(span.parent_id) for span in trace.data.spans}
    assert (parents["DummyLM.__call__"], parents["Predict"]) == ("Predict", "Understand")
    assert parents["search"] == parents["Understand"] == parents["Aggregate"] == parents["Answer"] == "ConversationQA"
    assert evaluation.figures["lm_calls_per_question"] == 1.0
    assert [score.id for score in evaluation.scores] == [question.id for question in QUESTIONS]


def test_a_saved_program_answers_as_before(program: ConversationQA, tmp_path: Path) -> None:
    folder = save_program(program, tmp_path / "mine", {"seed": 3})
    again = load_program(folder)
    assert (again.name, again.config["seed"]) == ("mine", 3)
    assert again.program.config == program.config
    for question in QUESTIONS[:4]:
        asked = {"question": question.question, "graph": GRAPH.graph, "topics": question.topics}
        assert again.program(**asked).predictions == program(**asked).predictions
    assert with_program_settings(again.program, {"beam_width": "3"}).config.beam_width == 3


def test_a_fit_without_questions_is_refused() -> None:
    with pytest.raises(DataError, match="no questions to learn from"):
        fit_graphs(GRAPH.graph, [], GraphConfig())
