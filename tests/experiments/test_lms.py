from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from experiments.data import LoadedData, load_conversations
from experiments.evaluate import EvaluationConfig, evaluate
from experiments.lms import LMConfig, make_lm, reach_lm
from experiments.saved import SavedProgram, find_program
from kg.errors import ConfigError, LMError


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
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LMConfig(**settings)  # type: ignore[arg-type]


@pytest.fixture
def serve() -> Iterator[Callable[[int, str], LMConfig]]:
    """Starts an OpenAI-compatible server on loopback that gives one reply to everything."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int, reply: str) -> LMConfig:
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply}}
        usage = {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}
        body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
        if status != 200:
            body = {"error": {"message": reply, "type": "invalid_request_error", "code": "x"}}

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                payload = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *arguments: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return LMConfig("openai/m", api_base=f"http://127.0.0.1:{server.server_port}/v1")

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_model_that_answers_is_reached(serve: Callable[[int, str], LMConfig]) -> None:
    lm = reach_lm(serve(200, "ok"))["lm"]
    assert lm("anything") == ["ok"]


def test_a_model_that_refuses_is_named(
    serve: Callable[[int, str], LMConfig], make_saved: Callable[..., SavedProgram], data: LoadedData
) -> None:
    with pytest.raises(LMError, match=r"openai/m does not answer: .*bad key"):
        evaluate(make_saved(), data, EvaluationConfig(serve(401, "bad key")))


def test_replies_that_make_no_sense_are_failed_turns(serve: Callable[[int, str], LMConfig]) -> None:
    config = EvaluationConfig(serve(200, "ok"), limit=1, threads=2)
    figures = evaluate(find_program("beam"), load_conversations("sample:dev"), config).figures
    assert figures["failed_turns"] == figures["turns"] > 0
    assert figures["failures_no_valid_choice"] == figures["turns"]
    assert figures["exe_accuracy"] == 0
    assert figures["prompt_tokens_per_turn"] > 0
