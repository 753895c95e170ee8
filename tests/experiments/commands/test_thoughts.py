"""``finpath thoughts`` against a server of the OpenAI protocol whose replies are written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import main as cli
from experiments.commands.thoughts import thoughts_program
from experiments.data import read_types
from experiments.tracking import Tracker, TrackingConfig
from kg.errors import ConfigError
from kg.growing import GrowingGraph
from tests.experiments.openai_server import ScriptedServer

PORTS = "Meridian Re insures the port of Varna, which has the most freight.\n"
QUESTION = "who insures the port with the most freight?"
SCRIPT = (
    {"parts": json.dumps([QUESTION]), "rounding": "", "decimals": "-1", "total": "false"},
    {"answers": '["Meridian Re"]', "calculation": "", "sentences": "[2]", "sureness": "certain"},
)
Ask = Callable[..., tuple[int, dict[str, Any], ScriptedServer]]


@pytest.fixture
def ports(tmp_path: Path) -> str:
    folder = tmp_path / "ports"
    folder.mkdir()
    (folder / "ports.txt").write_text(PORTS, encoding="utf-8")
    return str(folder)


@pytest.fixture
def ask(tmp_path: Path, ports: str, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def run(*words: str, script: Sequence[Mapping[str, str]] = SCRIPT) -> tuple[int, dict[str, Any], ScriptedServer]:
        out = tmp_path / "out.json"
        with ScriptedServer(script) as server:
            model = ("--lm", "openai/m", "--lm-set", f"api_base={server.url}", "--lm-set", "retries=0")
            code = cli.main(["thoughts", QUESTION, *words, *model, "--json", str(out)])
        return code, json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}, server

    return run


def test_a_question_is_answered_from_documents_and_every_step_is_shown(
    ask: Ask, ports: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found, server = ask("--documents", ports)
    assert (code, found["answer"], found["iterations"]) == (0, "Meridian Re", 1)
    assert [(fact["statement"], fact["sources"]) for fact in found["facts"]] == [(PORTS.strip(), ["ports.txt"])]
    shown = capsys.readouterr()
    assert "Meridian Re" in shown.out
    assert [step in shown.err for step in ("read the files", "split the question", "ask the texts")] == [True] * 3
    assert not server.replies
    assert [path.name for path in Path(ports).iterdir()] == ["ports.txt"]


def test_the_steps_are_traced_where_tracking_is_on(ask: Ask, ports: str, tracking_uri: str) -> None:
    _, found, _ = ask("--documents", ports)
    tracker = Tracker(TrackingConfig(tracking_uri))
    [trace] = tracker.client.search_traces(locations=[tracker.experiment("ask")], run_id=found["run_id"])
    names = {span.name.partition(".")[0] for span in trace.data.spans}
    assert names >= {"Predict", "GuardedLM", "Retrieve"}
    assert trace.info.tags["finpath.command"] == "thoughts"


def test_facts_are_written_where_the_graph_is_kept_alone(ask: Ask, ports: str, tmp_path: Path) -> None:
    path, other = str(tmp_path / "knowledge"), str(tmp_path / "other")
    Path(ports, "ports.csv").write_text("port,tonnes\nVarna,1200\n", encoding="utf-8")
    _, found, _ = ask("--documents", ports, "--graph", path, "--keep")
    assert found["inserted"]["nodes"] == 1
    with GrowingGraph(path) as kept:
        assert [str(node.key.name) for node in kept.nodes("Port")] == ["Varna"]
    with GrowingGraph(other, read_types("open")) as empty:
        types = empty.schema.types
    ask("--documents", ports, "--graph", other)
    with GrowingGraph(other) as unchanged:
        assert (unchanged.schema.types, unchanged.proposed.types, unchanged.facts()) == (types, (), 0)


def test_a_question_without_anything_to_answer_from_is_refused(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask()[0] == 1
    assert "give --documents, --set tools= or a --graph with facts" in capsys.readouterr().err


def test_settings_are_of_the_loop_and_of_the_tools() -> None:
    texts = {"tools": "visit_page", "calls": "2", "seconds": "5"}
    program = thoughts_program(texts)
    assert program.tools.names == ("visit_page",)
    assert (program.config.calls, program.config.types) == (2, "auto")
    for key, text in (("calls", "many"), ("colour", "red"), ("seconds", "0")):
        with pytest.raises(ConfigError, match=key):
            thoughts_program({key: text})


def test_the_prompts_are_compiled_on_questions_with_files_and_saved(
    ask: Ask, ports: str, tmp_path: Path, tracking_uri: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, data, rows = str(tmp_path / "program"), tmp_path / "rows.json", []
    for name in ("Varna", "Burgas", "Izmir"):
        (tmp_path / f"{name}.txt").write_text(f"Meridian Re insures the port of {name}.\n", encoding="utf-8")
        rows.append({"files": [f"{name}.txt"], "question": f"who insures {name}?", "answer": "meridian re"})
    data.write_text(json.dumps(rows), encoding="utf-8")
    nothing = (SCRIPT[0], {**SCRIPT[1], "answers": "[]"})
    with ScriptedServer(nothing + SCRIPT * 8) as server:
        words = f"compile thoughts --train {data} --out {out} --threads 1 --lm openai/m --lm-set retries=0"
        compiling = [*words.split(), "--lm-set", f"api_base={server.url}", "--optimizer"]
        assert cli.main([*compiling, "labeled-few-shot"]) == 1
        assert "'labeled-few-shot' cannot change the thoughts" in capsys.readouterr().err
        assert not server.heard
        assert cli.main([*compiling, "bootstrap"]) == 0
    shown = capsys.readouterr().out
    assert "val_score_0_start: 0.000" in shown
    assert "val_score_1_bootstrap: 1.000" in shown
    [changes] = tmp_path.rglob("prompts.diff")
    assert "insures the port of" in changes.read_text("utf-8")
    code, found, server = ask("--documents", ports, "--program", out)
    assert (code, found["answer"]) == (0, "Meridian Re")
    assert any("insures the port of" in message["content"] for message in server.heard[1][:-1])
