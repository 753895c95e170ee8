"""The commands for questions about graphs, on the sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.commands.main import main
from experiments.saved import load_program

SAMPLE = ["--graph", "sample:graph", "--format", "metaqa", "--questions"]
COMPILE = ["compile", "kgqa", "--graph", "sample:graph", "--format", "metaqa", "--train"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("kgqa") / "program"
    assert main([*COMPILE, "sample:train", "--no-track", "--out", str(folder)]) == 0
    return str(folder)


def test_the_whole_way_on_the_sample(
    fitted: str, tracking_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from experiments.tracking import Tracker, TrackingConfig

    command = ["evaluate", fitted, *SAMPLE, "sample:dev", "--json", "out.json", "--predictions", "p.jsonl"]
    assert main(command) == 0
    figures = json.loads(Path("out.json").read_text())
    names = {"hit_at_1", "hit_at_10", "precision", "recall", "f1", "questions", "failed_questions"}
    assert names | {"seconds_per_question_p50", "seconds_per_question_p95"} <= set(figures)
    assert figures["hit_at_1"] >= 0.8
    assert (figures["questions"], figures["failed_questions"]) == (57, 0)
    assert "right at once (hit_at_1)" in capsys.readouterr().out
    assert len(Path("p.jsonl").read_text("utf-8").splitlines()) == 57
    tracker = Tracker(TrackingConfig(uri=tracking_uri))
    run = tracker.find("latest", kinds=("kgqa",))
    assert run.id == figures["run_id"]
    assert run.metrics["hit_at_1"] == figures["hit_at_1"]
    assert len(tracker.table(run, "questions")) == 57


def test_evaluate_and_compile_take_graphs(fitted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    compiling = [*COMPILE, "sample:train", "--dev", "sample:dev", "--json", "compile.json"]
    assert main([*compiling, "--no-track", "--out", "program"]) == 0
    assert load_program("program").config["scorer_sha256"] == load_program(fitted).config["scorer_sha256"]
    assert main(["evaluate", "program", *SAMPLE, "sample:dev", "--no-track", "--json", "evaluate.json"]) == 0
    read = [json.loads(Path(name).read_text()) for name in ("evaluate.json", "compile.json")]
    others = {"program", "run_name"}
    alone, on_dev = ({key: row[key] for key in row if "seconds" not in key and key not in others} for row in read)
    assert alone.items() <= on_dev.items()
    assert on_dev["train_questions"] == 182


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["evaluate", "untrained"], 2, "--data or --questions must be given, and not both"),
        (["evaluate", "untrained", "--data", "sample:dev"], 1, "is about graphs, which needs --questions"),
        (["evaluate", "beam", *SAMPLE, "sample:dev"], 1, "beam is about reports, which needs --data"),
        (["evaluate", "beam", "--data", "sample:dev", "--set", "max_depth=2"], 1, "max_depth"),
        (["evaluate", "beam", "--data", "sample:dev", "--predictions", "p"], 2, "--predictions need --questions"),
        (
            ["compile", "kgqa", "--train", "sample:train", "--out", "x"],
            2,
            "questions about a graph need --graph and --format",
        ),
        ([*COMPILE, "sample:train"], 1, "out must name a folder"),
        (["evaluate", "nowhere", *SAMPLE, "sample:dev"], 1, "finpath: no program 'nowhere'"),
        ([*COMPILE, "sample:test", "--out", "x"], 1, "sample:test: there are sample:graph, sample:train"),
        (
            ["compile", "kgqa", "--format", "metaqa", "--train", "sample:dev", "--out", "x"],
            2,
            "questions about a graph need --graph and --format",
        ),
        ([*COMPILE, "sample:dev", "--graph", "none.ttl", "--out", "x"], 1, "none.ttl: is"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, "--no-track"]) == code
    assert message in " ".join(capsys.readouterr().err.split())
