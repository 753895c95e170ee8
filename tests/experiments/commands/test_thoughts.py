"""``finpath thoughts`` against a server of the OpenAI protocol whose replies are written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy
import pytest

from experiments.commands import main as cli
from experiments.data import read_types
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.saved import SavedProgram
from experiments.tasks.thoughts import ThoughtsQuestions, ThoughtsSetup, is_same_answer, read_tasks
from experiments.tracking import Tracker, TrackingConfig
from kg.errors import ConfigError, DataError
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
    for name in ("Predict(DefineToolCalls)", "inspect_document", "create_node_type", "apply_updates", "run_query"):
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


def test_tasks_are_scored_from_their_files(
    scripted_lm: Callable[..., dspy.LM], tmp_path: Path, ports: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))
    tasks = tmp_path / "tasks.jsonl"
    lines = [
        {"id": "t1", "question": QUESTION, "answers": ["Meridian Re"], "files": ["ports/ports.txt"]},
        {"id": "t2", "question": "who owns the port?", "answers": ["Acme"], "files": ["ports/ports.txt"]},
    ]
    tasks.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    nothing = {"query": "SELECT ?n WHERE { ?n a type:Nothing }"}
    retrieve = {"next_step": "retrieve", "missing": ""}
    unknown = [SCRIPT[0], {"calls": "[]"}, {"updates": "[]"}, retrieve, nothing, nothing, {"answer": "unknown"}]
    setup = ThoughtsSetup.parse({"max_iterations": "2", "retrieve": "query"})
    task = ThoughtsQuestions(read_tasks(tasks), setup, "tasks")
    lm = scripted_lm([*SCRIPT, *unknown])
    settings = {"lm": lm, "adapter": dspy.ChatAdapter(use_json_adapter_fallback=False)}
    evaluation = evaluate(SavedProgram(None, "thoughts", Path()), task, EvaluationConfig(threads=1), lm=settings)
    found = evaluation.figures
    assert (found["questions"], found["right"], found["abstained"], found["wrong"]) == (2, 1, 1, 0)
    assert next(iter(evaluation.turns.values()))["facts"]


@pytest.mark.parametrize(
    ("answer", "right", "same"),
    [
        ("$1,200.0", "1200", True),
        ("Oslo; Bergen", "Bergen, Oslo", True),
        ("the Meridian Re", "Meridian Re.", True),
        ("12", "112", False),
        ("Meridian", "Meridian Re", False),
        ("-14.1%", "14.1", False),
    ],
)
def test_answers_are_compared_as_gaia_does(answer: str, right: str, same: bool) -> None:
    assert is_same_answer(answer, right) is same


def test_settings_are_of_the_loop_of_tools_and_of_their_limits() -> None:
    settings = {"tools": "wikipedia,run_python", "votes": "3", "explain": "true", "allowed": "http://a/,http://b/"}
    setup = ThoughtsSetup.parse({**settings, "run_python.calls": "2", "prices": "p.csv"})
    assert (setup.tools, setup.config.votes, setup.config.explain) == (("wikipedia", "run_python"), 3, True)
    assert (setup.config.types, setup.settings.prices) == ("auto", "p.csv")
    assert setup.settings.web.allowed == ("http://a/", "http://b/")
    assert setup.limits["run_python"].calls == 2
    texts = {"run_python.seconds": "5", "run_python.calls": "2", "all.characters": "400"}
    limits = ThoughtsSetup.parse(texts).limits
    assert (limits["run_python"].seconds, limits["run_python"].calls, limits["all"].characters) == (5.0, 2, 400)
    for key, text in (("python.calls", "1"), ("wikipedia.calls", "many"), ("wikipedia.hours", "1"), ("colour", "red")):
        with pytest.raises(ConfigError, match=r"there is no setting|must be a whole number"):
            ThoughtsSetup.parse({key: text})


def test_a_broken_task_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"id": "a", "question": "q", "answers": [], "files": []}\n{"id": "b"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="is no task with id, question, answers and files"):
        read_tasks(path)
