"""Traces of turns: each with its own spans, linked to its own run, also under threads and ``dspy.Parallel``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import dspy
import pytest

from experiments.asking import asked
from experiments.commands import main as cli
from experiments.data import LoadedData
from experiments.evaluation import EvaluationConfig, ReportQuestions, evaluate
from experiments.runs import RunRecord
from experiments.saved import SavedProgram
from experiments.tracking import TraceFacts, Tracker, TrackingConfig, autologged, traced, write_trace

Make = Callable[..., SavedProgram]


def traces_of(tracker: Tracker, record: RunRecord) -> list[Any]:
    return list(tracker.client.search_traces(locations=[tracker.experiment(record.kind)], run_id=record.id))


@pytest.mark.parametrize("threads", [1, 4])
def test_each_run_has_its_own_traces(make_saved: Make, data: LoadedData, tracker: Tracker, threads: int) -> None:
    for name in ("one", "two"):
        config = EvaluationConfig(threads=threads)
        evaluate(make_saved(name), ReportQuestions(data), config, tracker=tracker, run_name=name)
    for name in ("one", "two"):
        record = tracker.find(name)
        traces = traces_of(tracker, record)
        assert len(traces) == 5
        for trace in traces:
            tags = trace.info.tags
            assert tags["finpath.run"] == record.id
            assert tags["finpath.program"] == name
            assert tags["finpath.report"] in tags["finpath.conversation"]
        assert {trace.info.tags["finpath.turn"] for trace in traces} == {"0", "1"}


def test_a_trace_has_question_gold_and_verdict(make_saved: Make, data: LoadedData, tracker: Tracker) -> None:
    evaluate(make_saved(costs="4"), ReportQuestions(data), EvaluationConfig(), tracker=tracker)
    record = tracker.find("latest")
    [trace] = [one for one in traces_of(tracker, record) if one.info.request_preview == "costs?"]
    assert trace.info.tags["finpath.conversation"] == data.conversations[1].id
    assert trace.data.spans[0].parent_id is None
    assert trace.data.spans[0].inputs["question"] == "costs?"
    info = trace.info
    assert (info.request_preview, info.response_preview) == ("costs?", "4")
    told = {assessment.name: assessment for assessment in info.assessments}
    assert told["exe_accuracy"].value is False
    assert told["exe_accuracy"].rationale == "right answer not found; wrong figures"
    assert told["confidence"].value == 0.9
    assert (told["answer"].value, told["program"].value) == ("3", "3")
    assert info.tags["finpath.correct"] == "false"
    assert info.tags["finpath.stage"] == "not_in_beam"
    [linked] = tracker.client.get_run(record.id).inputs.model_inputs
    metrics = tracker.client.get_logged_model(linked.model_id).metrics
    assert {metric.key: metric.dataset_name for metric in metrics}["exe_accuracy"] == data.name
    [kept] = tracker.client.search_datasets([tracker.experiment("evaluate")])
    assert kept.name == data.name


@dataclass(frozen=True)
class Figure:
    value: Decimal
    names: list[str]


def test_calls_and_errors_are_on_spans_of_their_own(tracker: Tracker) -> None:
    class Broken(dspy.Module):
        def forward(self, figures: list[Figure], note: str) -> None:
            raise RuntimeError("broke")

    with tracker.run("evaluate", "calls") as run, autologged(run), traced(run, "x turn 1") as span:
        with pytest.raises(RuntimeError):
            Broken()([Figure(Decimal(place), ["a"]) for place in range(9)], note="?")
        write_trace(span, run, "x", 0, TraceFacts({"question": "?"}, {"answer": None}, error="broke"))
    [trace] = traces_of(tracker, tracker.find("calls"))
    root, call = trace.data.spans
    assert (root.status.status_code, call.parent_id) == ("ERROR", root.span_id)
    assert call.name == "Broken"
    figures = [{"value": str(place), "names": ["a"]} for place in range(5)]  # more would be most of a trace's size
    assert call.inputs == {"args": [figures], "note": "?"}


def test_traces_are_not_kept_where_they_are_refused(make_saved: Make, data: LoadedData, tracker: Tracker) -> None:
    evaluate(make_saved(costs="4"), ReportQuestions(data), EvaluationConfig(traces=False), tracker=tracker)
    assert traces_of(tracker, tracker.find("latest")) == []


FILMS = "Alien\tdirected by\tRidley Scott\nDuel\tdirected by\tSteven Spielberg\n"


def traces(uri: str) -> list[Any]:
    """The traces of the newest run of questions."""
    tracker = Tracker(TrackingConfig(uri))
    [record] = tracker.search(["ask"], limit=1, without=())
    return traces_of(tracker, record)


@pytest.fixture
def films(tmp_path: Path) -> str:
    path = tmp_path / "films.tsv"
    path.write_text(f"subject\tpredicate\tobject\n{FILMS}", encoding="utf-8")
    return str(path)


def test_ask_and_chat_write_traces_of_their_questions(
    tracking_uri: str, films: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    assert cli.main(["ask", films, "who directed Alien?", "who directed Duel?"]) == 0
    found = traces(tracking_uri)
    assert sorted(json.loads(one.data.request)["question"] for one in found) == [
        "who directed Alien?",
        "who directed Duel?",
    ]
    assert {one.info.tags["finpath.answered"] for one in found} == {"true"}
    [search] = [span for span in found[0].data.spans if span.span_type == "RETRIEVER"]
    assert (search.name, [document["id"] for document in search.outputs][:1]) == ("search", ["1"])
    monkeypatch.setattr("sys.stdin", io.StringIO("who directed Alien?\n/why\n"))
    assert cli.main(["chat", films]) == 0
    [one] = traces(tracking_uri)
    assert one.info.tags["finpath.command"] == "chat"
    assert "Ridley Scott" in one.data.response


def test_nothing_is_logged_without_a_store_or_where_it_is_refused(
    tmp_path: Path, films: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["ask", films, "who directed Alien?"]) == 0
    assert not (tmp_path / "mlflow.db").exists()


def test_an_error_keeps_the_questions_before_it(tracking_uri: str) -> None:
    def ask() -> None:
        with asked(Tracker(TrackingConfig(tracking_uri)), "ask", "x") as log:
            with log.turn("first?") as seen:
                seen.outputs = {"answer": "yes"}
            with log.turn("second?"):
                raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        ask()
    states = {json.loads(one.data.request)["question"]: one.info.state.value for one in traces(tracking_uri)}
    assert states == {"first?": "OK", "second?": "ERROR"}
