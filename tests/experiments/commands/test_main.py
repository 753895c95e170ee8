from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from mlflow.exceptions import MlflowException

from experiments.commands import main as cli
from experiments.data import LoadedData
from experiments.lms.config import LMConfig
from experiments.saved import SavedProgram
from kg.errors import ConfigError, DataError

HEAVY = {"dspy", "mlflow", "datasets", "rdflib", "numpy", "scipy", "pyoxigraph"}
ROOT = Path(__file__).resolve().parents[3]
CONTEXT = click.Context(cli.finpath)
COMMANDS = {name: cli.finpath.get_command(CONTEXT, name) for name in cli.finpath.list_commands(CONTEXT)}
GROUPS = {name: command for name, command in COMMANDS.items() if isinstance(command, click.Group)}
VERBS = [*COMMANDS, *(f"{group} {name}" for group, command in GROUPS.items() for name in command.commands)]


def test_mlflow_serves_the_store_of_the_environment(tracking_uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        started.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr("experiments.commands.runs.subprocess.run", run)
    assert cli.main(["mlflow", "--port", "5001"]) == 0
    [command] = started
    assert command[command.index("--backend-store-uri") + 1] == tracking_uri
    assert command[-2:] == ["--port", "5001"]
    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "true"


def help_of(*verbs: str) -> str:
    """The help of the command and of its verbs, from a process that stops if one of them imports a heavy library."""
    code = f"""
import sys
from experiments.commands import main as cli

for verb in {["", *verbs]!r}:
    cli.main([*verb.split(), "--help"])
    if heavy := {HEAVY!r} & set(sys.modules):
        sys.exit(f"{{verb or 'finpath'}}: {{heavy}}")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_help_has_an_example_and_imports_nothing_heavy() -> None:
    shown = help_of(*VERBS)
    assert all(f"\n  {command} " in shown for command in COMMANDS)
    helps = {text.split(" [OPTIONS]")[0]: text for text in shown.split("Usage: finpath ")[2:]}
    assert set(helps) == set(VERBS)
    assert [verb for verb in VERBS if verb not in GROUPS and f"finpath {verb}" not in helps[verb]] == []


def test_the_command_stays_small() -> None:
    """At most 24 commands and 130 options: a new option needs a measured gain, or another one's place."""
    commands = [command for name, command in COMMANDS.items() if command and name not in GROUPS]
    commands += [command for group in GROUPS.values() for command in group.commands.values()]
    options = [one for command in (cli.finpath, *commands) for one in command.params if isinstance(one, click.Option)]
    assert len(commands) <= 24
    assert len(options) <= 130


def test_wrong_usage_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate"]) == 2
    assert cli.main(["evaluate", "beam", "--data", "sample:dev", "--limit", "0"]) == 2
    assert "0 is not in the range x>=1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (DataError("bad", file="a.json"), 1),
        (KeyboardInterrupt(), 130),
        (OSError(errno.ENOSPC, "No space left on device", "out.json"), 1),
        (MlflowException("database or disk is full\n[SQL: INSERT INTO runs]"), 1),
    ],
)
def test_exit_codes(
    raised: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(source: object) -> None:
        raise raised

    monkeypatch.setattr("experiments.data.load_conversations", fail)
    assert cli.main(["data", "check", "x"]) == code
    said = capsys.readouterr().err
    assert said.startswith("finpath: ")
    assert said.count("\n") == 1
    assert "SQL" not in said


def test_settings_that_cannot_be_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", "beam", "--data", "sample:dev", "--lm", "gpt"]) == 1
    assert "lm must be 'none', 'local' or 'provider/model'" in capsys.readouterr().err
    assert cli.main(["evaluate", "beam", "--data", "sample:dev", "--lm-set", "temperature=1"]) == 1
    assert "lm-set is for a language model: name one with --lm" in capsys.readouterr().err
    assert cli.main(["evaluate", "beam", "--data", "d", "--set", "a"]) == 1
    assert "set must be written KEY=VALUE, got 'a'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["evaluate p --data d", "ask r q", "compile p --train d"])
def test_how_a_model_is_asked_is_read_from_the_command_line(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[LMConfig] = []

    def enough(config: LMConfig) -> None:
        asked.append(config)
        raise ConfigError("enough")

    monkeypatch.setattr("experiments.lms.check_local", enough)
    settings = ["temperature=0.5", "max_tokens=7", "budget=calls=3", "timeout=5", "retries=0", "threads=1"]
    words = [word for setting in settings for word in ("--lm-set", setting)]
    assert cli.main([*command.split(), "--lm", "openai/x", *words]) == 1
    monkeypatch.setenv(
        "FINPATH_LM", "openai/x temperature=0.5 max_tokens=7 budget=calls=3 timeout=5 retries=1 threads=1"
    )
    assert cli.main([*command.split(), "--lm-set", "retries=0"]) == 1
    config = LMConfig("openai/x", temperature=0.5, max_tokens=7, budget="calls=3", timeout=5, retries=0, threads=1)
    assert asked == [config, config]


def test_an_evaluation_in_which_every_turn_fails_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_saved: Callable[..., SavedProgram],
    data: LoadedData,
    capsys: pytest.CaptureFixture[str],
) -> None:
    failing = make_saved(revenue="!", costs="!", is_it_greater="!", and_the_change="!", the_share="!")
    monkeypatch.setattr("experiments.saved.find_program", lambda *_: failing)
    monkeypatch.setattr("experiments.commands.evaluate.load_and_report", lambda _: data)
    out = tmp_path / "out.json"
    assert cli.main(["evaluate", "x", "--data", "y", "--no-track", "--json", str(out)]) == 1
    assert "no turn has an answer; the first: RuntimeError: the program broke" in capsys.readouterr().err
    assert json.loads(out.read_text())["failed_turns"] == 5


def test_a_shell_completes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_FINPATH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "finpath eva")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert cli.main() == 0
    assert "evaluate" in capsys.readouterr().out


def test_a_reader_that_has_gone_is_no_error() -> None:
    """As in ``finpath --help | head -1``."""
    read, written = os.pipe()
    os.close(read)
    command = [sys.executable, str(ROOT / "finpath.py"), "--help"]
    done = subprocess.run(command, stdout=written, stderr=subprocess.PIPE, timeout=120, check=False)
    os.close(written)
    assert (done.returncode, done.stderr) == (0, b"")
