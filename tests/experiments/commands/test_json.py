"""``--json -`` of every verb: JSON alone on standard output. Each place that a verb writes is tried before the work."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from experiments.commands import main as cli
from experiments.commands.main import Target
from experiments.console import SAMPLE_FOLDER

# In their order: later verbs use what earlier ones wrote. The last word is the exit code, * for 0 or 1.
CALLS = {
    "data fetch": "data fetch --out convfinqa 0",
    "data check": "data check two.json 0",
    "lm pull": "lm pull 0",
    "ask": "ask MRLW/2020/page_49.pdf what-was-the-net-income-in-2020? 0",
    "chat": "chat geography 0",
    "evaluate": "evaluate beam --data two.json 0",
    "compile": "compile beam --optimizer none --train two.json --out uncompiled 0",
    "compare": "compare latest latest 0",
    "inspect": "inspect latest 0",
    "promote": "promote latest --against latest 1",
    "graph check": "graph check two-report.csv *",
    "graph show": "graph show two-report.csv 0",
    "graph query": "graph query two-report.csv query.rq 0",
    "optimizers": "optimizers 0",
    "ontology build": "ontology build two.json --out ontology.ttl 0",
    "ingest": "ingest news --graph knowledge 0",
    "brief": "brief knowledge --database portfolio.db --user ann 0",
}


def _verbs(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _verbs(command, f"{name} ")
        elif command is not None:
            yield before + name, command


VERBS = {name: verb for name, verb in _verbs(cli.finpath) if name not in cli.SERVERS}  # servers have no figures
ELSEWHERE = {"thoughts", "demo"}
"""Verbs whose figures other tests read: what asks a language model, and the demo of the first page."""


def test_every_verb_writes_figures_and_is_tried() -> None:
    assert set(CALLS) == set(VERBS) - ELSEWHERE
    for name, command in VERBS.items():
        assert any("--json" in parameter.opts for parameter in command.params), name


@pytest.fixture
def home(tracking_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with small data, and stand-ins for the network, the weights and the question at a prompt."""
    two = json.loads((SAMPLE_FOLDER / "dev.json").read_text())[:2]
    (tmp_path / "two.json").write_text(json.dumps(two))
    (tmp_path / "two-report.csv").write_text("item,2020,2019\nnet sales,120,100\n")
    (tmp_path / "query.rq").write_text("SELECT ?year ?value { ?x kg:year ?year ; kg:net_sales ?value }")
    shutil.copytree(SAMPLE_FOLDER / "advisor" / "documents", tmp_path / "news")
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))
    _portfolio(tmp_path / "portfolio.db")
    weights = tmp_path / "cache" / "models" / "weights.gguf"
    monkeypatch.setattr("experiments.data.download.fetch", lambda out, *files: [tmp_path / "two.json"])
    monkeypatch.setattr("experiments.lms.pull", lambda *_, **__: weights)
    monkeypatch.setattr("sys.stdin", io.StringIO("What is the capital of Norway?\n"))
    return tmp_path


def _portfolio(path: Path) -> None:
    import sqlite3

    with sqlite3.connect(path) as store:
        store.execute("CREATE TABLE positions (user_id, symbol, shares, avg_cost, added_at)")
        store.execute("CREATE TABLE watchlist (user_id, symbol, added_at)")
        store.execute("INSERT INTO positions VALUES ('ann', 'HLX', 5, 10.0, '2026-01-01')")


def test_json_is_alone_on_standard_output_of_every_verb(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    former = os.umask(0o027)
    try:
        for name, call in CALLS.items():
            words = [word.replace("-", " ") if word.endswith("?") else word for word in call.split()]
            code = cli.main([*words[:-1], "--json", "-"])
            shown = capfd.readouterr()
            assert str(code) == words[-1] or (words[-1] == "*" and code in (0, 1)), f"{name}: {shown.err}"
            assert json.loads(shown.out) is not None, name
    finally:
        os.umask(former)
    for one in ("ontology.ttl", "uncompiled/config.json"):
        assert stat.S_IMODE((home / one).stat().st_mode) == 0o640, one
    assert stat.S_IMODE((home / "uncompiled").stat().st_mode) == 0o750


def test_every_place_that_is_written_is_checked() -> None:
    for name, command in VERBS.items():
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.name in ("out", "predictions"):
                assert isinstance(parameter.type, Target), f"{name} --{parameter.name}"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("evaluate beam --data nowhere.json --json", "json"),
        ("compile beam --train nowhere.json --out", "out"),
        ("compile kgqa --graph nowhere --train nowhere --format metaqa --out", "out"),
        ("evaluate x --graph nowhere --questions nowhere --format metaqa --predictions", "predictions"),
        ("ontology build nowhere.json --out", "out"),
        ("data fetch --out", "out"),
        ("demo --out", "out"),
    ],
)
def test_a_place_that_cannot_be_written_is_found_before_the_work(
    words: str, option: str, tracking_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    places = [tmp_path / "file" / "below"]
    places += [Path("/proc/finpath/below")] if sys.platform == "linux" else []
    for place in places:
        assert cli.main([*words.split(), str(place)]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"finpath: {option} must be writable"), said
        assert said.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "mlflow.db"]


@pytest.mark.parametrize("words", ["evaluate beam --data nowhere.json", "compile beam --train nowhere.json --out x"])
def test_a_store_that_cannot_be_written_is_found_before_the_work(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    for address, reason in (
        (f"sqlite:///{tmp_path}/file/mlflow.db", "Not a directory"),
        ("postgresql+psycopg://somewhere/runs", "No module named 'psycopg'"),
    ):
        monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
        monkeypatch.setitem(sys.modules, "psycopg", None)
        assert cli.main(words.split()) == 1
        said = capsys.readouterr().err
        assert said.startswith("finpath: the tracking store"), said
        assert "psycopg" in said or reason in said
        assert said.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        "ask MRLW/2020/page_49.pdf what?",
        "evaluate beam --data sample:dev --limit 1 --no-track",
        "compile beam --train sample:train --out x --no-track",
        "ask sample:graph what? --program untrained",
    ],
)
def test_a_local_model_without_its_runtime_is_found_before_the_first_turn(
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from experiments.lms import config

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))
    config._engine.cache_clear()
    assert cli.main([*words.split(), "--lm", "local"]) == 1
    assert "the local model is not in" in capsys.readouterr().err
    monkeypatch.setattr("experiments.lms.weights.find_weights", lambda _: ("any", tmp_path))
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert cli.main([*words.split(), "--lm", "local"]) == 1
    assert "needs its runtime: pip install 'finpath[local]'" in capsys.readouterr().err
