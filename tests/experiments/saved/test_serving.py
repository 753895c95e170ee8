"""Programs as MLflow models: logged with their code, loaded without a pickle, and asked with JSON."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import mlflow
import pytest

from experiments.data import find_report
from experiments.saved import SavedProgram, find_program, load_program, log_model, save_program
from experiments.tracking import Tracker, TrackingConfig
from kg.errors import ConfigError
from programs.conversation import ConversationQA

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of an import of MLflow

TRIPLES = [["Alien", "directed_by", "Ridley Scott"], ["Duel", "directed_by", "Steven Spielberg"]]


@pytest.fixture
def tracker(tracking_uri: str, monkeypatch: pytest.MonkeyPatch) -> Tracker:
    monkeypatch.setenv("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "false")
    mlflow.set_tracking_uri(tracking_uri)
    return Tracker(TrackingConfig(tracking_uri))


def _logged(tracker: Tracker, saved: SavedProgram) -> mlflow.pyfunc.PyFuncModel:
    with tracker.run("compile", "mine: a/b") as run:
        uri = log_model(tracker, run, saved)
    assert find_program(uri, tracker).config["kind"] == saved.config["kind"]
    return mlflow.pyfunc.load_model(uri)


def test_a_logged_report_program_answers_as_the_saved_one(tracker: Tracker, tmp_path: Path) -> None:
    program = find_program("beam").program
    saved = load_program(save_program(program, tmp_path / "program"))
    report = find_report("MRLW/2020/page_49.pdf", "sample:dev")
    questions = ["what was the net income in 2020?", "and in 2018?"]
    request = {"report": dataclasses.asdict(report), "questions": questions}
    answers = _logged(tracker, saved).predict(request)["answers"]
    turns = program(report=report, questions=questions).turns
    asked = [(one["question"], one["answers"]) for one in answers]
    assert asked == [(one.question, [str(one.answer)]) for one in turns]
    assert [one["confidence"] for one in answers] == [one.confidence for one in turns]
    assert answers[0]["sources"] == ["row 2, column 2"]
    json.dumps(answers)
    assert "beam.understand.predict" in {prompt.name for prompt in tracker.client.search_prompts()}


def test_a_program_that_is_not_saved_is_logged_with_a_folder_of_its_own(tracker: Tracker) -> None:
    _logged(tracker, find_program("agent"))


def test_a_logged_graph_program_takes_triples(tracker: Tracker, tmp_path: Path) -> None:
    saved = load_program(save_program(ConversationQA.for_graphs(), tmp_path / "program"))
    bare = _logged(tracker, saved)
    with pytest.raises(ConfigError, match="triples must be given"):
        bare.predict({"questions": ["who directed Alien?"]})
    [row] = bare.predict({"questions": ["who directed Duel?"], "topics": ["Duel"], "triples": TRIPLES})["answers"]
    assert (row["answers"], row["abstained"]) == (["Steven Spielberg"], False)
