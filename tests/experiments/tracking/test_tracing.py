"""Traces of turns: each with its own spans, linked to its own run, also under threads and ``dspy.Parallel``."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

from experiments.commands import main as cli
from experiments.data import LoadedData
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.saved import SavedProgram
from experiments.tasks import ConvFinQA
from experiments.traces import TraceWriter, TurnRecorder, asked, read_traces
from experiments.tracking import Tracker, TrackingConfig
from kg.errors import TrackingError

Make = Callable[..., SavedProgram]


def spans_of(trace: dict[str, Any]) -> list[dict[str, Any]]:
    spans: list[dict[str, Any]] = trace["data"]["spans"]
    return spans


def test_an_error_is_on_its_span() -> None:
    recorder = TurnRecorder()

    class Broken(dspy.Module):
        def forward(self) -> None:
            raise RuntimeError("broke")

    with recorder.recording(), pytest.raises(RuntimeError):
        Broken()()
    assert recorder.spans[0]["error"] == "RuntimeError: broke"


@pytest.mark.parametrize("threads", [1, 4])
def test_traces_of_runs_in_one_process_do_not_mix(
    make_saved: Make, data: LoadedData, tracker: Tracker, threads: int
) -> None:
    """Two evaluations at the same time, each with threads: MLflow's autologging would put both on either run."""
    names = ["one", "two"]

    def work(name: str) -> None:
        evaluate(make_saved(name), ConvFinQA(data), EvaluationConfig(threads=threads), tracker=tracker, run_name=name)

    workers = [threading.Thread(target=work, args=(name,)) for name in names]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for name in names:
        record = tracker.find(name)
        traces = read_traces(tracker, record)
        assert len(traces) == 5
        for trace in traces:
            tags = trace["info"]["tags"]
            assert tags["finpath.run"] == record.id
            assert tags["finpath.program"] == name
            assert tags["finpath.report"] in tags["finpath.conversation"]
        assert {trace["info"]["tags"]["finpath.turn"] for trace in traces} == {"0", "1"}


def test_a_trace_has_question_gold_and_what_the_search_proposed(
    make_saved: Make, data: LoadedData, tracker: Tracker
) -> None:
    evaluate(make_saved(costs="4"), ConvFinQA(data), EvaluationConfig(), tracker=tracker)
    record = tracker.find("latest")
    [trace] = read_traces(tracker, record, conversation=data.conversations[1].id, turn_index=0)
    root, search = spans_of(trace)
    assert root["parent_span_id"] is None
    assert search["parent_span_id"] == root["span_id"]
    assert '"costs?"' in str(root["attributes"]["mlflow.spanInputs"])
    info = trace["info"]
    assert (info["request_preview"], info["response_preview"]) == ("costs?", "4")
    told = {one["assessment_name"]: one for one in info["assessments"]}
    assert told["exe_accuracy"]["feedback"]["value"] is False
    assert told["exe_accuracy"]["rationale"] == "right answer not found; wrong figures"
    assert told["confidence"]["feedback"]["value"] == 0.9
    assert (told["answer"]["expectation"]["value"], told["program"]["expectation"]["value"]) == ("3", "3")
    assert trace["info"]["tags"]["finpath.correct"] == "false"
    assert trace["info"]["tags"]["finpath.stage"] == "not_in_beam"


@pytest.mark.parametrize(("kept", "count"), [(False, 0), (True, 5)])
def test_traces_are_kept_as_asked(make_saved: Make, data: LoadedData, tracker: Tracker, kept: bool, count: int) -> None:
    saved = make_saved(costs="4", revenue=None)
    evaluate(saved, ConvFinQA(data), EvaluationConfig(traces=kept), tracker=tracker)
    assert len(read_traces(tracker, tracker.find("latest"))) == count


def test_a_store_that_takes_no_traces_costs_the_traces_only(
    make_saved: Make, data: LoadedData, tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(TraceWriter, "_write", refuse)
    evaluation = evaluate(make_saved(), ConvFinQA(data), EvaluationConfig(), tracker=tracker)
    assert evaluation.figures["exe_accuracy"] == 1
    assert tracker.find("latest").metrics["traces_failed"] == 5


def test_a_quote_in_a_conversation_cannot_reach_the_query(make_saved: Make, data: LoadedData, tracker: Tracker) -> None:
    evaluate(make_saved(), ConvFinQA(data), EvaluationConfig(), tracker=tracker)
    with pytest.raises(TrackingError, match="quote"):
        read_traces(tracker, tracker.find("latest"), conversation="a' OR '1' = '1")


FILMS = "Alien\tdirected by\tRidley Scott\nDuel\tdirected by\tSteven Spielberg\n"


def traces(uri: str, kind: str = "ask") -> list[Any]:
    """The traces of the newest run of a kind."""
    tracker = Tracker(TrackingConfig(uri))
    [record] = tracker.search([kind], limit=1)
    return list(tracker.client.search_traces(locations=[tracker.experiment_id], run_id=record.id))


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
