"""Evaluations that are really killed, in processes of their own, and gone on with."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.evaluation import Journal
from experiments.runs import RunRecord
from experiments.tracking import Tracker
from kg.errors import TrackingError

ROOT = Path(__file__).resolve().parents[3]

SCRIPT = """
import json, sys, time
from pathlib import Path
from experiments.commands.main import _stop_on_sigterm
from experiments.data.conversations import LoadedData
from experiments.evaluation import evaluate
from experiments.evaluation import EvaluationConfig
from experiments.saved import SavedProgram
from experiments.evaluation import ReportQuestions
from experiments.tracking import Tracker, TrackingConfig
from tests.experiments.conftest import ScriptedQA, make_conversation

folder, threads, resume = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "resume"
gold = [{f"a{n}?": "5", f"b{n}?": "subtract(5, 3)", f"c{n}?": "3"} for n in range(6)]

class Slow(ScriptedQA):
    def _turn(self, question):
        time.sleep(0.1)
        with (folder / "asked.txt").open("a") as file:
            file.write(question + "\\n")
        return super()._turn(question)

_stop_on_sigterm()
programs = {q: p for one in gold for q, p in one.items()} | {"b4?": "7"}
data = LoadedData(tuple(make_conversation(n, one) for n, one in enumerate(gold)), (), "ab" * 32, "dev.json", "dev")
tracker = Tracker(TrackingConfig.from_environment())
saved = SavedProgram(Slow(programs), "slow", folder, {})
done = evaluate(saved, ReportQuestions(data), EvaluationConfig(threads=threads), tracker=tracker, resume=resume)
(folder / "figures.json").write_text(json.dumps(done.figures))
"""


def start(folder: Path, threads: int, how: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FINPATH_CACHE": str(folder / "cache")}
    command = [sys.executable, "-c", SCRIPT, str(folder), str(threads), how]
    return subprocess.Popen(command, env=environment, text=True, stderr=subprocess.PIPE, cwd=folder)


def wait_for_lines(folder: Path, count: int) -> None:
    limit = time.monotonic() + 600
    while time.monotonic() < limit:
        if sum(len(path.read_bytes().splitlines()) for path in (folder / "cache").rglob("*.jsonl")) >= count:
            return
        time.sleep(0.02)
    pytest.fail(f"no {count} conversations were answered in time")


def traced_turns(tracker: Tracker, record: RunRecord) -> list[tuple[str, str]]:
    tags = [
        one.info.tags
        for one in tracker.client.search_traces(locations=[tracker.experiment("evaluate")], run_id=record.id)
    ]
    return [(one["finpath.conversation"], one["finpath.turn"]) for one in tags]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "threads"), [(signal.SIGKILL, 1), (signal.SIGTERM, 2), (signal.SIGINT, 1)], ids=["kill", "term", "ctrl-c"]
)
def test_a_killed_evaluation_goes_on_where_it_was(
    tmp_path: Path, tracker: Tracker, sent: signal.Signals, threads: int
) -> None:
    first = start(tmp_path, threads, "new")
    wait_for_lines(tmp_path, 2)
    first.send_signal(sent)
    first.communicate(timeout=600)
    assert first.returncode != 0
    if sent != signal.SIGKILL:
        assert tracker.find("latest").status == "KILLED"
        assert tracker.find("latest").metrics["turns"] >= 6
    second = start(tmp_path, threads, "resume")
    _, said = second.communicate(timeout=600)
    assert second.returncode == 0, said
    assert "going on with the run" in said
    record = tracker.find("latest")
    assert (record.status, len(tracker.search(["evaluate"]))) == ("FINISHED", 1)
    asked = (tmp_path / "asked.txt").read_text().splitlines()
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["turns"] == 18
    assert figures["exe_accuracy"] == pytest.approx(17 / 18)
    # Only conversations that were under way when it was killed are asked again: at most three turns a thread.
    assert len(asked) - len(set(asked)) <= 3 * threads
    assert figures["resumed_turns"] >= 6
    # A trace is written when its turn ends: a kill loses none, and may leave one of a turn that is asked again.
    assert len(set(traced_turns(tracker, record))) == 18
    assert not list((tmp_path / "cache").rglob("*.jsonl"))


@pytest.mark.slow
def test_two_processes_that_resume_one_run_at_once_answer_each_turn_once(tmp_path: Path, tracker: Tracker) -> None:
    first = start(tmp_path, 1, "new")
    wait_for_lines(tmp_path, 2)
    first.kill()
    first.communicate(timeout=600)
    both = [start(tmp_path, 1, "resume") for _ in range(2)]
    said = [process.communicate(timeout=600)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1], said
    [refused] = [text for process, text in zip(both, said, strict=True) if process.returncode]
    assert re.search("is written by another|was finished by another", refused), refused
    [record] = tracker.search(["evaluate"], without=())
    assert record.status == "FINISHED"
    assert record.metrics["turns"] == 18
    asked = (tmp_path / "asked.txt").read_text().splitlines()
    assert len(asked) - len(set(asked)) <= 3  # the conversation that was under way at the kill
    assert len(set(traced_turns(tracker, record))) >= 12


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))
    return Journal("a" * 32)


def test_what_was_being_written_is_cut_off(journal: Journal) -> None:
    with journal.locked():
        journal.append({"n": 1})
        assert journal.path is not None
        with journal.path.open("a") as file:
            file.write('{"n": 2, "te')
        assert journal.read() == [{"n": 1}]
        journal.append({"n": 3})
    assert [line["n"] for line in journal.read()] == [1, 3]
    journal.remove()
    assert journal.read() == []


def test_a_broken_line_is_skipped_and_reported(journal: Journal, capsys: pytest.CaptureFixture[str]) -> None:
    with journal.locked():
        for number in range(3):
            journal.append({"n": number})
    assert journal.path is not None
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(b"".join([lines[0], b"\xff\xfe not JSON\n", lines[2]]))
    assert [line["n"] for line in journal.read()] == [0, 2]
    assert "line 2 of the journal" in capsys.readouterr().err


def test_a_journal_is_written_by_one_process_at_a_time(journal: Journal) -> None:
    with journal.locked(), pytest.raises(TrackingError, match="is written by another process"), journal.locked():
        pass
    with journal.locked():
        pass


def test_a_finished_run_is_not_resumed(tracker: Tracker) -> None:
    with tracker.run("evaluate", "done") as run:
        pass
    with (
        pytest.raises(TrackingError, match="was finished by another process"),
        tracker.run("evaluate", "done", resumed=run.id),
    ):
        pass
