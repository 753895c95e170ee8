from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

from experiments.commands.main import main
from experiments.data import LoadedData, load_conversations
from experiments.evaluation import EvaluationConfig, ReportQuestions, evaluate
from experiments.lms.config import LMConfig, lm_settings, make_lm, reach_lm
from experiments.saved import SavedProgram, find_program, save_program
from experiments.tracking import Tracker
from kg.errors import ConfigError, LMError
from programs.lm import EmbeddedEngine, EngineSettings, GuardedLM
from tests.experiments.lms.servers import ECHOES, GOOD, SECRET, BadServer, Reply


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "gpt"}, "provider/model"),
        ({"temperature": -1.0}, "temperature must be at least 0, got -1.0"),
        ({"max_tokens": 0}, "max_tokens must be at least 1, got 0"),
        ({"timeout": float("inf")}, "timeout must be at least .*, got inf"),
        ({"name": "openai/m", "api_base": "http://[::1"}, "this is no address"),
        ({"threads": 0}, "threads must be at least 1, got 0"),
        ({"budget": "calls=none"}, "the budget's calls must be a number"),
        ({"name": "local", "api_base": "http://localhost:1/v1"}, "local runs in this process"),
        ({"name": "openai/m", "api_base": "http://user:secret@host/v1"}, "must hold no"),
        ({"name": "openai/m", "api_base": "http://host/v1?key=secret"}, "must hold no"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LMConfig(**{"name": "openai/m", **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("temprature", "0", "has no setting 'temprature'; it has temperature"),
        ("timeout", "long", "timeout cannot be 'long'"),
        ("temperature", "nan", "temperature must be at least 0, got nan|temperature cannot be"),
        ("max_tokens", "9" * 5000, "max_tokens cannot be"),
    ],
)
def test_texts_of_settings_that_cannot_be_are_refused(key: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LMConfig.parse("openai/m", {key: text})


Serve = Callable[..., BadServer]


def test_a_model_that_refuses_is_named(serve: Serve, make_saved: Callable[..., SavedProgram], data: LoadedData) -> None:
    with pytest.raises(LMError, match=r"openai/m does not answer: .*bad key"):
        evaluate(make_saved(), ReportQuestions(data), EvaluationConfig(serve(Reply(401, "bad key")).config()))


def test_a_missing_key_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(LMError, match=r"no API key found .*Set OPENAI_API_KEY in the environment$") as raised:
        reach_lm(LMConfig("openai/gpt-4o-mini"))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("status", [401, 200], ids=["error", "reply"])
@pytest.mark.usefixtures("tracking_uri")
def test_a_key_that_a_server_echoes_is_in_no_run_trace_page_log_or_error(
    status: int, serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("multipart", reason="needs the extra ui")
    from starlette.testclient import TestClient

    from experiments.ui.server import make_app
    from experiments.ui.sessions import Backend

    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path / "dspy"))
    echo = Reply(status, f"wrong key: {' '.join(ECHOES)}")
    server = serve(script=lambda body: GOOD if "Reply with the word ok" in body else echo)
    config = server.config(retries=0)
    about = ["MRLW/2020/page_49.pdf", "what was the net income in 2020?"]
    lm = ["--lm", "openai/m", "--lm-set", f"api_base={config.api_base}", "--lm-set", "retries=0"]
    assert main(["ask", *about, *lm, "--json", f"{tmp_path}/asked.json"]) in (0, 1)
    main(["evaluate", "beam", "--data", "sample:dev", "--limit", "1", *lm, "--json", f"{tmp_path}/out.json"])
    saved = find_program("beam").program
    saved.set_lm(make_lm(config))
    save_program(saved, tmp_path / "saved", {"lm": dataclasses.asdict(config)})
    with TestClient(make_app(Backend(about[:1], settings=lm_settings(config)))) as client:
        client.post("/api/questions", json={"question": about[1]})
        shown = client.get("/").text + client.get("/api/questions/1/events").text + client.get("/export.json").text
    assert all(SECRET in headers["Authorization"] for headers in server.headers)
    output = "".join(capfd.readouterr())
    written = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"mlflow.db", "asked.json", "out.json", "program.json"} <= written.keys()
    assert b"[OPENAI_API_KEY]" in written["mlflow.db"]
    for place, content in {**written, "page": shown.encode(), "output": output.encode()}.items():
        for form in ECHOES:
            assert form[len(form) // 3 : -len(form) // 3].encode() not in content, (place, form)


def test_a_server_of_ones_own_is_asked_for_json(serve: Serve) -> None:
    settings = lm_settings(serve(Reply(text='{"answer": "42"}')).config())
    assert isinstance(settings["adapter"], dspy.JSONAdapter)
    with dspy.context(**settings):
        assert dspy.Predict("question -> answer")(question="?").answer == "42"
    assert settings["lm"].history[-1]["kwargs"]["response_format"] is not None


def test_a_model_that_has_no_weight_is_named_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = EmbeddedEngine(EngineSettings(Path("not-loaded.gguf"), "local/qwen2.5-coder-1.5b"))
    lm = GuardedLM(engine.name, engine=engine, free=True)
    monkeypatch.setattr("experiments.lms.config.make_lm", lambda config: lm)
    program = find_program("beam").program
    reach_lm(LMConfig("local"), program)
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("note: local/qwen2.5-coder-1.5b is not asked about reports: ")
    program.evidence = dataclasses.replace(program.evidence, plans={})
    reach_lm(LMConfig("local"), program)
    assert capsys.readouterr().err == ""


def test_replies_that_make_no_sense_are_failed_turns(serve: Serve) -> None:
    config = EvaluationConfig(serve(GOOD).config(), limit=1, threads=2)
    figures = evaluate(find_program("beam"), ReportQuestions(load_conversations("sample:dev")), config).figures
    assert figures["failed_turns"] == figures["turns"] > 0
    assert figures["failures_no_valid_choice"] == figures["turns"]
    assert figures["exe_accuracy"] == 0
    assert figures["prompt_tokens_per_turn"] > 0


def test_what_a_model_took_is_on_the_run(serve: Serve, tracker: Tracker) -> None:
    server = serve(GOOD)
    config = EvaluationConfig(server.config(), limit=1)
    for cached in (False, True):
        evaluation = evaluate(
            find_program("beam"), ReportQuestions(load_conversations("sample:dev")), config, tracker=tracker
        )
        figures = evaluation.figures
        asked = figures["lm_calls_per_turn"] * figures["turns"]
        assert (figures["lm_calls"], figures["lm_cache_hits"]) == ((1, asked) if cached else (1 + asked, 0))
        assert len(server.bodies) == figures["lm_calls"]
        assert figures["lm_prompt_tokens"] == sum(map(len, server.bodies)) > 0
        server.bodies.clear()
        table = {row["figure"]: row["value"] for row in tracker.table(tracker.find("latest"), "figures")}
        assert table["lm_calls"] == figures["lm_calls"]
        assert "lm_usd" in figures


def test_an_agent_without_a_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "agent", "--data", "sample:dev", "--limit", "1", "--no-track"]) == 1
    assert "the agent asks a language model: name one with --lm (such as local), got none" in capsys.readouterr().err
    assert main(["ask", "MRLW/2020/page_49.pdf", "what was the net income?", "--program", "agent"]) == 1
    assert "name one with --lm" in capsys.readouterr().err


def test_a_model_that_is_down_is_reported_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "a.txt"
    document.write_text("Headline: A\nSource: B\nDate: 2026-01-01\n\nHelixon Inc. moved.\n", encoding="utf-8")
    lm = ("--lm", "openai/m", "--lm-set", "api_base=http://127.0.0.1:9/v1", "--lm-set", "retries=0")
    assert main(["ingest", str(document), "--graph", str(tmp_path / "g"), *lm]) == 1
    told = capsys.readouterr().err.splitlines()
    assert [line for line in told if "the language model openai/m does not answer: " in line] == told


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "http://ann:hunter2@localhost/sparql", "who?"),
        ("ask", "http://[::1/x", "who?"),
        ("ask", "http://ann:hunter2@localhost/sparql", "who?", "--program", "untrained"),
    ],
)
def test_a_password_in_an_address_is_neither_used_nor_shown(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a name was looked up")

    monkeypatch.setattr("socket.getaddrinfo", never)
    assert main(list(words)) == 1
    told = capsys.readouterr()
    assert "address" in told.err
    assert "hunter2" not in told.out + told.err
