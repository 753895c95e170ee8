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

PORTS = """port | tonnes | insurer
Varna | 1,200 | Meridian Re
Burgas | 900 | Kestrel Mutual
"""
QUESTION = "who insures the port with the most freight?"
PORT = {
    "name": "Port",
    "description": "A place where ships are loaded.",
    "properties_schema": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "tonnes": {"type": "number"}},
    },
    "example": {"name": "Varna", "tonnes": 5},
    "justification": "Ports are compared by their freight.",
}
EDGE = {
    "name": "insured_by",
    "description": "The first is insured by the second.",
    "source_types": ["Port"],
    "target_types": ["Thing"],
    "justification": "No edge leads to an insurer.",
}
VARNA = {"type": "Port", "name": "Varna"}
MERIDIAN = {"type": "Thing", "name": "Meridian Re"}
UPDATES = [
    {"op": "AddNode", **VARNA, "properties": {"name": "Varna", "tonnes": 1200}},
    {"op": "AddNode", "type": "Port", "name": "Burgas", "properties": {"name": "Burgas", "tonnes": 900}},
    {"op": "AddNode", **MERIDIAN, "properties": {"name": "Meridian Re"}},
    {"op": "AddEdge", "type": "insured_by", "source": VARNA, "target": MERIDIAN, "properties": {}},
]
QUERY = (
    "SELECT ?n WHERE { ?p a type:Port ; prop:tonnes ?t ; edge:insured_by ?i . ?i rdfs:label ?n } "
    "ORDER BY DESC(?t) LIMIT 1"
)
SCRIPT = (
    {"calls": json.dumps([{"tool": "inspect_document", "arguments": {"file": "ports.txt"}}])},
    {
        "calls": json.dumps(
            [{"tool": "create_node_type", "arguments": PORT}, {"tool": "create_edge_type", "arguments": EDGE}]
        )
    },
    {"updates": json.dumps(UPDATES)},
    {"next_step": "retrieve", "missing": ""},
    {"query": QUERY},
    {"answer": "Meridian Re"},
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


def test_a_question_is_answered_from_documents_with_types_of_the_models_own(
    ask: Ask, ports: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found, server = ask("--documents", ports)
    assert (code, found["answer"], found["iterations"]) == (0, "Meridian Re", 2)
    assert [one["name"] for one in found["types"]] == ["Port", "insured_by"]
    stated = sorted(fact["statement"] for fact in found["facts"])
    assert stated == ["Varna -> insured_by -> Meridian Re", "Varna: tonnes 1200"]
    assert {fact["passage"] for fact in found["facts"]} == {"Varna | 1,200 | Meridian Re"}
    assert 'inspect_document {"file": "ports.txt"}' in capsys.readouterr().out
    assert not server.replies
    assert [path.name for path in Path(ports).iterdir()] == ["ports.txt"]


def test_the_steps_are_traced_where_tracking_is_on(ask: Ask, ports: str, tracking_uri: str) -> None:
    _, found, _ = ask("--documents", ports)
    tracker = Tracker(TrackingConfig(tracking_uri))
    [trace] = tracker.client.search_traces(locations=[tracker.experiment_id], run_id=found["run_id"])
    names = [span.name for span in trace.data.spans]
    for name in ("Predict.forward", "GuardedLM.__call__", "Tool.inspect_document", "GraphStep.forward"):
        assert name in names
    assert trace.info.tags["finpath.command"] == "thoughts"


def test_facts_and_types_are_written_where_the_graph_is_kept_alone(ask: Ask, ports: str, tmp_path: Path) -> None:
    path, other = str(tmp_path / "knowledge"), str(tmp_path / "other")
    _, found, _ = ask("--documents", ports, "--graph", path, "--keep")
    assert found["answer"] == "Meridian Re"
    with GrowingGraph(path) as kept:
        assert {kind.name for kind in kept.schema.node_types()} >= {"Port", "Thing"}
        assert kept.facts() > 0
    with GrowingGraph(other, read_types("open")) as empty:
        types = empty.schema.types
    _, found, _ = ask("--documents", ports, "--graph", other)
    assert found["answer"] == "Meridian Re"
    with GrowingGraph(other) as unchanged:
        assert (unchanged.schema.types, unchanged.proposed.types, unchanged.facts()) == (types, (), 0)


def test_a_question_without_anything_to_answer_from_is_refused(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask()[0] == 1
    assert "give --documents, --set tools= or a --graph with facts" in capsys.readouterr().err


def test_settings_are_of_the_loop_and_of_the_tools() -> None:
    texts = {"tools": "visit_page", "repairs": "3", "explain": "true", "seconds": "5"}
    program = thoughts_program(texts)
    assert program.tools.names == ("visit_page",)
    assert (program.config.repairs, program.config.explain, program.config.types) == (3, True, "auto")
    for key, text in (("calls", "many"), ("colour", "red"), ("seconds", "0")):
        with pytest.raises(ConfigError, match=key):
            thoughts_program({key: text})
