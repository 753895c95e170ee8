"""Completion in a shell: commands, and names of runs, programs and reports."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.commands import main as cli
from experiments.data import LoadedData
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.saved import SavedProgram
from experiments.tasks import ConvFinQA
from experiments.tracking import Tracker

ROOT = Path(__file__).resolve().parents[3]
Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Complete:
    """What zsh is offered for the last word of a line."""

    def offered(line: str) -> list[str]:
        monkeypatch.setenv("_FINPATH_COMPLETE", "zsh_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        assert cli.main() == 0
        lines = capsys.readouterr().out.splitlines()
        return lines[1::3]

    return offered


def test_names_are_completed(
    complete: Complete, tracker: Tracker, make_saved: Callable[..., SavedProgram], data: LoadedData, tmp_path: Path
) -> None:
    evaluate(make_saved("my"), ConvFinQA(data), EvaluationConfig(limit=1), tracker=tracker)
    evaluate(make_saved("other"), ConvFinQA(data), EvaluationConfig(limit=1), tracker=tracker)
    assert complete("finpath compare ") == ["latest", "other (first 1) on dev.json", "my (first 1) on dev.json"]
    assert complete("finpath inspect oth") == ["other (first 1) on dev.json"]
    (tmp_path / "my-beam").mkdir()
    (tmp_path / "my-beam" / "config.json").touch()
    assert complete("finpath evaluate my") == ["my-beam"]
    assert complete("finpath evaluate be") == ["beam"]
    assert complete("finpath ask MRLW/2020/") == ["MRLW/2020/page_49.pdf"]


def test_completion_without_a_store_offers_what_there_is(complete: Complete, tmp_path: Path) -> None:
    assert "latest" in complete("finpath compare ")


def test_completion_of_names_loads_no_heavy_library(tmp_path: Path) -> None:
    code = """
import sys
from experiments.commands import main as cli
cli.main()
heavy = {"dspy", "mlflow", "datasets", "rdflib", "numpy", "sqlalchemy"} & set(sys.modules)
sys.exit(str(heavy) if heavy else 0)
"""
    settings = {"_FINPATH_COMPLETE": "zsh_complete", "COMP_WORDS": "finpath ask MRLW", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT, env={"PATH": "", **settings}
    )
    assert done.returncode == 0, done.stderr
    assert "MRLW/2020/page_49.pdf" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    shown = capsys.readouterr().out
    assert f"_FINPATH_COMPLETE={shell}_complete" in shown
    program = shutil.which(shell)
    if program is not None:
        assert subprocess.run([program, "-n"], input=shown, text=True, timeout=20, check=False).returncode == 0


def test_bash_is_given_names_with_escaped_spaces(
    tracker: Tracker,
    make_saved: Callable[..., SavedProgram],
    data: LoadedData,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    evaluate(make_saved("my"), ConvFinQA(data), tracker=tracker)
    monkeypatch.setenv("_FINPATH_COMPLETE", "bash_complete")
    for typed, offered in (("my", "plain,my\\ on\\ dev.json"), ("'my o", "plain,my on dev.json")):
        monkeypatch.setenv("COMP_WORDS", f"finpath compare {typed}")
        monkeypatch.setenv("COMP_CWORD", "2")
        assert cli.main() == 0
        assert capsys.readouterr().out.splitlines() == [offered]
