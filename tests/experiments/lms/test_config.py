from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dspy
import pytest

from experiments.commands.main import main
from experiments.data import LoadedData, load_conversations
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.lms import config as lms
from experiments.lms.config import LMConfig, lm_settings, make_lm, reach_lm
from experiments.saved import SavedProgram, find_program, save_program
from experiments.tasks import ConvFinQA
from experiments.tracking import Tracker
from kg.errors import ConfigError, LMError
from kg.reports.learning import build_ontology
from kg.reports.ontology import Ontology
from kg.reports.report import Report
from programs.lm import EmbeddedEngine, EngineSettings, GuardedLM


def test_none_is_no_model() -> None:
    assert make_lm(LMConfig()) is None


def test_settings_reach_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = make_lm(LMConfig("openai/qwen", api_base="http://localhost:1/v1", max_tokens=99))
    assert lm is not None
    assert lm.model == "openai/qwen"
    assert (lm.kwargs["temperature"], lm.kwargs["max_tokens"], lm.cache) == (0.0, 99, True)
    assert lm.kwargs["api_base"] == "http://localhost:1/v1"
    assert "api_key" not in lm.dump_state()


def test_a_key_of_the_environment_is_left_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    lm = make_lm(LMConfig("openai/qwen", api_base="http://localhost:1/v1"))
    assert lm is not None
    assert "api_key" not in lm.kwargs


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "gpt"}, "provider/model"),
        ({"name": ""}, "got ''"),
        ({"temperature": -1.0}, "temperature must be at least 0, got -1.0"),
        ({"max_tokens": 0}, "max_tokens must be at least 1, got 0"),
        ({"retries": -1}, "retries must be at least 0, got -1"),
        ({"timeout": 0.0}, "timeout must be more than 0, got 0.0"),
        ({"timeout": float("inf")}, "timeout must be more than 0, got inf"),
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
        LMConfig(**settings)  # type: ignore[arg-type]


def test_a_command_gives_a_model_and_texts_of_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FINPATH_LM", raising=False)
    texts = {"temperature": "0.5", "threads": "2", "budget": "calls=5,usd=1"}
    assert LMConfig.parse("local", texts) == LMConfig("local", temperature=0.5, threads=2, budget="calls=5,usd=1")
    assert LMConfig.parse() == LMConfig("none")
    monkeypatch.setenv("FINPATH_LM", "openai/qwen api_base=http://localhost:1/v1 timeout=5")
    assert LMConfig.parse() == LMConfig("openai/qwen", api_base="http://localhost:1/v1", timeout=5.0)
    assert LMConfig.parse(settings={"timeout": "7"}).timeout == 7
    assert LMConfig.parse("local") == LMConfig("local"), "a model on the command line replaces the environment's"


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("temprature", "0", "has the settings api_base, temperature, .*; got 'temprature'"),
        ("timeout", "long", "timeout must be a number, got 'long'"),
        ("retries", "-1", "retries must be at least 0, got -1"),
        ("temperature", "nan", "temperature must be at least 0, got nan"),
        ("max_tokens", "9" * 5000, "max_tokens must be a number"),
    ],
)
def test_texts_of_settings_that_cannot_be_are_refused(key: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LMConfig.parse("openai/m", {key: text})


class _Server(ThreadingHTTPServer):
    """An OpenAI-compatible server on loopback; what it says to a request with given headers is ``answer``'s."""

    def __init__(self, answer: Callable[[Mapping[str, str]], tuple[int, str]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status, said = self.server.answer(dict(self.headers))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        usage = {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}
        body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
        if status != 200:
            body = {"error": {"message": said, "type": "invalid_request_error", "code": "x"}}
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[[int, str], LMConfig]]:
    """Starts a server that gives one reply to everything."""
    servers: list[_Server] = []

    def start(status: int, reply: str) -> LMConfig:
        servers.append(_Server(lambda _: (status, reply)))
        return LMConfig("openai/m", api_base=servers[-1].url)

    yield start
    for server in servers:
        server.close()


def test_a_model_that_answers_is_reached(serve: Callable[[int, str], LMConfig]) -> None:
    lm = reach_lm(serve(200, "ok"))["lm"]
    assert lm("anything") == ["ok"]


def test_a_model_that_refuses_is_named(
    serve: Callable[[int, str], LMConfig], make_saved: Callable[..., SavedProgram], data: LoadedData
) -> None:
    with pytest.raises(LMError, match=r"openai/m does not answer: .*bad key"):
        evaluate(make_saved(), ConvFinQA(data), EvaluationConfig(serve(401, "bad key")))


def test_a_missing_key_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(LMError, match=r"no API key found .*Set OPENAI_API_KEY in the environment$") as raised:
        reach_lm(LMConfig("openai/gpt-4o-mini"))
    assert "\n" not in str(raised.value)


def test_a_run_keeps_the_settings_of_a_model_that_is_asked() -> None:
    assert LMConfig().params() == {"lm.name": "none"}
    assert LMConfig("openai/m", temperature=0.5).params()["lm.temperature"] == 0.5


SECRET = "sk-planted-0123456789abcdef"


@pytest.fixture
def telling() -> Iterator[str]:
    """A server that answers once, and from then on refuses and quotes the key that it was shown."""
    answered: list[str] = []

    def answer(headers: Mapping[str, str]) -> tuple[int, str]:
        answered.append(headers["Authorization"])
        return (200, "ok") if len(answered) == 1 else (401, f"wrong key: {headers['Authorization']}")

    server = _Server(answer)
    yield server.url
    server.close()
    assert answered
    assert all(SECRET in header for header in answered)


def test_a_key_is_nowhere_but_in_the_environment(
    telling: str,
    monkeypatch: pytest.MonkeyPatch,
    tracking_uri: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path / "dspy"))
    command = "evaluate beam --data sample:dev --limit 1 --lm openai/m"
    assert main([*command.split(), "--lm-set", f"api_base={telling}", "--json", f"{tmp_path}/out.json"]) in (0, 1)
    program = find_program("beam").program
    config = LMConfig("openai/m", api_base=telling)
    program.set_lm(make_lm(config))
    save_program(program, tmp_path / "saved", {"lm": dataclasses.asdict(config)})
    with pytest.raises(LMError, match=r"wrong key: Bearer \[OPENAI_API_KEY\]"):
        reach_lm(config)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"mlflow.db", "out.json", "program.json"} <= {path.name for path in written}
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []
    said = capfd.readouterr()
    assert SECRET not in said.out + said.err


def test_a_server_of_ones_own_is_asked_for_json(serve: Callable[[int, str], LMConfig]) -> None:
    settings = lm_settings(serve(200, '{"answer": "42"}'))
    assert isinstance(settings["adapter"], dspy.JSONAdapter)
    with dspy.context(**settings):
        assert dspy.Predict("question -> answer")(question="?").answer == "42"
    assert settings["lm"].history[-1]["kwargs"]["response_format"] is not None


def test_a_local_model_that_was_not_fetched_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path))
    lms._engine.cache_clear()
    with pytest.raises(LMError, match=r"the local model is not in .*: fetch it with `finpath lm pull`"):
        make_lm(LMConfig("local"))
    with pytest.raises(ConfigError, match="there is no local model 'gpt'"):
        make_lm(LMConfig("local/gpt"))


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


def test_replies_that_make_no_sense_are_failed_turns(serve: Callable[[int, str], LMConfig]) -> None:
    config = EvaluationConfig(serve(200, "ok"), limit=1, threads=2)
    figures = evaluate(find_program("beam"), ConvFinQA(load_conversations("sample:dev")), config).figures
    assert figures["failed_turns"] == figures["turns"] > 0
    assert figures["failures_no_valid_choice"] == figures["turns"]
    assert figures["exe_accuracy"] == 0
    assert figures["prompt_tokens_per_turn"] > 0


def test_what_a_model_took_is_on_the_run(serve: Callable[[int, str], LMConfig], tracker: Tracker) -> None:
    config = EvaluationConfig(serve(200, "ok"), limit=1)
    for cached in (False, True):
        evaluation = evaluate(
            find_program("beam"), ConvFinQA(load_conversations("sample:dev")), config, tracker=tracker
        )
        figures = evaluation.figures
        asked = figures["lm_calls_per_turn"] * figures["turns"]
        assert (figures["lm_calls"], figures["lm_cache_hits"]) == ((1, asked) if cached else (1 + asked, 0))
        assert figures["lm_prompt_tokens"] == 7 * figures["lm_calls"] > 0
        assert tracker.find("latest").metrics["cost/lm_calls"] == figures["lm_calls"]
        assert "lm_usd" in figures


def test_an_ontology_is_asked_for_through_the_adapter_that_suits_the_model(
    serve: Callable[[int, str], LMConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapters: list[object] = []

    class Builder:
        refused: tuple[str, ...] = ()

        def __call__(self, reports: Sequence[Report]) -> Ontology:
            adapters.append(dspy.settings.adapter)
            return build_ontology(reports)

    monkeypatch.setattr("programs.ontology.OntologyBuilder", Builder)
    command = (
        f"ontology build sample:dev --lm openai/m --lm-set api_base={serve(200, 'ok').api_base} --out {tmp_path}/o.ttl"
    )
    assert main(command.split()) == 0
    assert [type(adapter) for adapter in adapters] == [dspy.JSONAdapter]


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
    assert [line for line in told if "a.txt: the language model failed: " in line]


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
