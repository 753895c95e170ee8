"""Remote models that limit, fail, hang, drop and babble, over real HTTP; and many requests in flight."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import LMError as DSPyLMError

from experiments.data import load_conversations
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.lms.catalogue import installed_models, models_folder
from experiments.lms.config import LMConfig, lm_settings, make_lm, reach_lm
from experiments.saved import find_program
from experiments.tasks import ConvFinQA
from kg.errors import LMError
from programs.remote import bounded

SECRET = "sk-planted-0123456789abcdef"


@dataclass(frozen=True)
class Reply:
    """What the server does with a request: a status and text, or something worse."""

    status: int = 200
    text: str = "ok"
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    raw: bytes | None = None
    drop: bool = False


GOOD = Reply()
Script = Callable[[str], Reply]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.bodies: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.under_way = self.most_under_way = 0
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients that have stopped waiting

    def config(self, **settings: Any) -> LMConfig:
        return LMConfig("openai/m", api_base=f"http://127.0.0.1:{self.server_port}/v1", **settings)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.headers.append(dict(self.headers))
            self.server.under_way += 1
            self.server.most_under_way = max(self.server.most_under_way, self.server.under_way)
            reply = self.server.script(body)
        try:
            time.sleep(reply.seconds)
            self._send(reply, len(body))
        finally:
            with self.server.lock:
                self.server.under_way -= 1

    def _send(self, reply: Reply, tokens: int) -> None:
        if reply.drop:
            self.connection.close()
            return
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply.text}}
        usage = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
        whole = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
        refused = {"error": {"message": reply.text, "type": "error", "code": "x"}}
        payload = reply.raw if reply.raw is not None else json.dumps(whole if reply.status == 200 else refused).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[..., _Server]]:
    """Starts a server that goes through replies, the last of which it repeats; or asks a function for each."""
    servers: list[_Server] = []

    def start(*replies: Reply, script: Script | None = None) -> _Server:
        waiting = list(replies)
        servers.append(_Server(script or (lambda _: waiting.pop(0) if len(waiting) > 1 else waiting[0])))
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses before a call is tried again; none is waited for."""
    taken: list[float] = []
    # Of the module that tries again only: the server must still be able to sleep.
    clock = SimpleNamespace(**{**vars(time), "sleep": taken.append})
    monkeypatch.setattr("dspy.clients.execution.time", clock)
    return taken


def asked(config: LMConfig, question: str = "?") -> list[Any]:
    lm = make_lm(config)
    assert lm is not None
    said: list[Any] = lm(question)
    return said


def test_a_rate_limit_is_waited_out_as_long_as_the_server_says(
    serve: Callable[..., _Server], pauses: list[float]
) -> None:
    limited = Reply(429, "slow down", {"Retry-After": "7"})
    server = serve(limited, limited, GOOD)
    assert asked(server.config(retries=2)) == ["ok"]
    assert pauses == [7, 7]
    assert len(server.bodies) == 3


def test_failures_that_may_pass_are_tried_again_with_growing_pauses(
    serve: Callable[..., _Server], pauses: list[float]
) -> None:
    server = serve(Reply(500, "broken"), Reply(503, "busy"), Reply(drop=True), GOOD)
    assert asked(server.config(retries=3)) == ["ok"]
    assert pauses == [1, 2, 4]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(429, "slow down"), "slow down"),
        (Reply(500, "broken"), "broken"),
        (Reply(drop=True), ""),
        (Reply(raw=b"<html>not what was asked for</html>"), ""),
        (Reply(raw=b""), ""),
    ],
)
def test_what_does_not_pass_is_an_error_after_the_last_try(
    serve: Callable[..., _Server], pauses: list[float], reply: Reply, said: str
) -> None:
    server = serve(reply)
    with pytest.raises(DSPyLMError) as raised:
        asked(server.config(retries=1))
    assert said in str(raised.value)
    assert len(server.bodies) <= 2


def test_a_reply_without_a_choice_is_a_turn_without_one(serve: Callable[..., _Server]) -> None:
    config = serve(GOOD, Reply(raw=b'{"id": "1", "choices": []}')).config(retries=0)
    evaluation = evaluate(
        find_program("beam"), ConvFinQA(load_conversations("sample:dev")), EvaluationConfig(config, limit=1)
    )
    assert {turn.failure for turn in evaluation.turns.values()} <= {"no_valid_choice", "lm_error"}


def test_what_cannot_pass_is_not_tried_again(serve: Callable[..., _Server], pauses: list[float]) -> None:
    server = serve(Reply(400, "no such setting"))
    with pytest.raises(DSPyLMError, match="no such setting"):
        asked(server.config(retries=3))
    assert (len(server.bodies), pauses) == (1, [])


def test_a_server_that_hangs_is_given_up(serve: Callable[..., _Server], pauses: list[float]) -> None:
    server = serve(Reply(seconds=5.0))
    started = time.perf_counter()
    with pytest.raises(DSPyLMError):
        asked(server.config(timeout=0.3, retries=1))
    assert time.perf_counter() - started < 4
    assert len(server.bodies) == 2
    assert len(pauses) == 1


def test_a_failed_turn_costs_its_own_answer_only(serve: Callable[..., _Server], pauses: list[float]) -> None:
    place = iter(range(10**6))
    server = serve(script=lambda _: Reply(500, "broken") if next(place) % 3 == 1 else GOOD)
    evaluation = evaluate(
        find_program("beam"),
        ConvFinQA(load_conversations("sample:dev")),
        EvaluationConfig(server.config(retries=0), limit=2),
    )
    failures = [turn.failure for turn in evaluation.turns.values()]
    assert "lm_error" in failures
    assert set(failures) - {"lm_error"}
    assert all("broken" in turn.message for turn in evaluation.turns.values() if turn.failure == "lm_error")


def test_caps_hold_over_http_and_the_cache_costs_nothing(serve: Callable[..., _Server]) -> None:
    server = serve(GOOD)
    lm = make_lm(server.config(budget="calls=2"))
    assert lm is not None
    for question in ("capped a", "capped a", "capped a", "capped b"):
        lm(question)
    with pytest.raises(LMError, match="the budget of openai/m is spent: 2 calls"):
        lm("capped c")
    assert (lm.spent.calls, lm.spent.cache_hits, len(server.bodies)) == (2, 2, 2)
    assert lm.spent.prompt_tokens == sum(map(len, server.bodies))
    few = make_lm(server.config(budget="tokens=10"))
    assert few is not None
    few("capped d")
    with pytest.raises(LMError, match="10 tokens"):
        few("capped e")


def test_retries_count_as_one_call(serve: Callable[..., _Server], pauses: list[float]) -> None:
    server = serve(Reply(500, "broken"), GOOD)
    lm = make_lm(server.config(retries=1))
    assert lm is not None
    lm("tried twice")
    assert (lm.spent.calls, len(server.bodies)) == (1, 2)


def test_no_key_is_in_what_a_server_says_back(
    serve: Callable[..., _Server], pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for reply in (
        Reply(401, f"wrong key {SECRET}"),
        Reply(429, f"too many requests of {SECRET}"),
        Reply(500, f"header was Bearer {SECRET}"),
        Reply(raw=f"<html>{SECRET}</html>".encode()),
    ):
        server = serve(reply)
        with pytest.raises(LMError) as raised:
            reach_lm(server.config(retries=0))
        assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
        error: BaseException | None = raised.value
        while error is not None:
            assert SECRET not in f"{error} {error!r} {error.args}"
            error = error.__cause__ if error.__cause__ is not None else error.__context__


def test_many_requests_are_in_flight_and_each_turn_pays_its_own(serve: Callable[..., _Server]) -> None:
    understood = json.dumps(
        {"understanding": {"description": "d", "properties": [], "periods": [], "operation": "select"}}
    )
    picked = json.dumps({"choice": 1, "confidence": 0.5})
    server = serve(script=lambda body: Reply(text=picked if "candidates" in body else understood, seconds=0.1))
    data = load_conversations("sample:dev")
    evaluation = evaluate(find_program("beam"), ConvFinQA(data), EvaluationConfig(server.config(), limit=6, threads=6))
    assert server.most_under_way > 2
    bodies = server.bodies[1:]
    turns = evaluation.turns.values()
    assert sum(turn.usage.lm_calls for turn in turns) == len(bodies)
    assert sum(turn.usage.prompt_tokens for turn in turns) == sum(map(len, bodies))
    for (conversation, place), turn in evaluation.turns.items():
        sent = {len(body) for body in bodies if json.dumps(turn.question)[1:-1] in body}
        assert any(turn.usage.prompt_tokens >= size for size in sent), (conversation, place)
    one_by_one = evaluate(
        find_program("beam"),
        ConvFinQA(data),
        EvaluationConfig(replace(server.config(), max_tokens=1023), limit=6, threads=1),
    )
    assert {key: turn.usage.lm_calls for key, turn in one_by_one.turns.items()} == {
        key: turn.usage.lm_calls for key, turn in evaluation.turns.items()
    }
    apart = {key: turn.usage.prompt_tokens for key, turn in one_by_one.turns.items()}
    assert apart == {key: turn.usage.prompt_tokens for key, turn in evaluation.turns.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["beam", "agent"])
def test_the_same_programs_ask_the_served_model(name: str) -> None:
    if "smollm2-135m" not in {model.name for model in installed_models()}:
        pytest.skip("needs `finpath lm pull smollm2-135m`")
    pytest.importorskip("xllamacpp")
    from programs.lm.engine import EngineSettings
    from programs.lm.engine import serve as serve_model

    weights = models_folder() / "smollm2-135m-instruct-q4_1.gguf"
    conversation = load_conversations("sample:dev").conversations[0]
    with serve_model(EngineSettings(weights, "smollm2-135m", context=8192)) as address:
        settings = lm_settings(LMConfig("openai/smollm2-135m", api_base=f"{address}/v1", max_tokens=200))
        with dspy.context(**settings):
            [turn] = find_program(name).program(report=conversation.report, questions=conversation.questions[:1]).turns
    assert turn.failure in (None, "no_valid_choice", "picked_none")
    assert settings["lm"].spent.calls == turn.usage.lm_calls > 0
    assert turn.usage.prompt_tokens > 100
    # So small a model may write on until its tokens run out; what it does say is among the candidates.
    assert turn.failure is not None or turn.answer in {candidate.answer for candidate in turn.candidates}


class _Raw:
    """A server that writes bytes as it likes: slowly, without end, or late."""

    def __init__(self, write: Callable[[socket.socket], None]) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.write = write
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(peer,), daemon=True).start()

    def _answer(self, peer: socket.socket) -> None:
        with peer, suppress(OSError):
            peer.recv(1 << 16)
            self.write(peer)
            # Closing with a part of the request unread would reset the connection, and with it the reply.
            peer.shutdown(socket.SHUT_WR)
            peer.settimeout(5)
            while peer.recv(1 << 16):
                pass

    def config(self, **settings: Any) -> LMConfig:
        return LMConfig("openai/m", api_base=f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1", **settings)


def _drip_body(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(200):
        peer.sendall(b" ")
        time.sleep(0.1)


def _drip_headers(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(200):
        peer.sendall(b"X-%d: 1\r\n" % number)
        time.sleep(0.1)


def _endless(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
    while True:
        peer.sendall(b" " * (1 << 20))


@pytest.mark.parametrize("write", [_drip_body, _drip_headers, _endless])
def test_a_reply_is_bounded_as_a_whole_in_time_and_size(write: Callable[[socket.socket], None]) -> None:
    server, start = _Raw(write), time.monotonic()
    with pytest.raises((LMError, DSPyLMError)):
        asked(server.config(timeout=1, retries=0))
    assert time.monotonic() - start < 6
    server.listener.close()


@pytest.mark.parametrize("write", [_drip_body, _drip_headers, _endless])
def test_an_asynchronous_reply_is_bounded_too(write: Callable[[socket.socket], None]) -> None:
    server, start = _Raw(write), time.monotonic()
    lm = make_lm(server.config(timeout=1, retries=0))
    assert lm is not None
    with pytest.raises((LMError, DSPyLMError)):
        asyncio.run(lm.acall("?"))
    assert time.monotonic() - start < 6
    server.listener.close()


def test_an_asynchronous_program_ends_its_turn_where_the_server_drips() -> None:
    server, start = _Raw(_drip_body), time.monotonic()
    with dspy.context(lm=make_lm(server.config(timeout=1, retries=0))), pytest.raises((LMError, DSPyLMError)):
        asyncio.run(dspy.Predict("question -> answer").acall(question="?"))
    assert time.monotonic() - start < 10
    server.listener.close()


def test_asynchronous_replies_share_a_connection_and_each_has_its_own_allowance(
    serve: Callable[..., _Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "MOST_BYTES", 3_000)
    server = serve(Reply(text="x" * 1_500))
    lm = make_lm(server.config(retries=0))
    assert lm is not None

    async def three() -> list[list[str]]:
        return [await lm.acall(str(number)) for number in range(3)]

    assert asyncio.run(three()) == [["x" * 1_500]] * 3
    server.script = lambda _: Reply(text="x" * 4_000)
    with pytest.raises((LMError, DSPyLMError), match="larger than"):
        asyncio.run(lm.acall("much"))


def test_an_asynchronous_server_cannot_ask_to_wait_for_a_day_or_give_a_key(
    serve: Callable[..., _Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    server = serve(Reply(429, "slow down", {"Retry-After": "99999"}), Reply(text=f"your key is {SECRET}"))
    lm = make_lm(server.config(retries=1, timeout=1))
    assert lm is not None
    start = time.monotonic()
    assert asyncio.run(lm.acall("?")) == ["your key is [OPENAI_API_KEY]"]
    assert time.monotonic() - start < 10


def test_a_server_cannot_ask_to_wait_for_a_day(serve: Callable[..., _Server], pauses: list[float]) -> None:
    server = serve(Reply(429, "slow down", {"Retry-After": "99999"}), GOOD)
    assert asked(server.config(retries=1, timeout=3)) == ["ok"]
    assert pauses == [3]


def test_a_key_in_a_reply_is_redacted_and_half_a_character_replaced(
    serve: Callable[..., _Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    server = serve(Reply(text=f"your key is {SECRET}"), Reply(text="half \ud800 of it"))
    assert asked(server.config(), "1") == ["your key is [OPENAI_API_KEY]"]
    assert asked(server.config(), "2") == ["half ? of it"]


def test_a_key_is_redacted_wherever_a_reply_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only in its text: the history and the traces keep its name, its thoughts and its calls of tools."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": json.dumps({SECRET: [SECRET]})}}
    message = {"role": "assistant", "content": "fine", "reasoning_content": f"think {SECRET}", "tool_calls": [call]}
    body = {"id": SECRET, "model": SECRET, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    server = _Raw(lambda peer: peer.sendall(_http(json.dumps(body).encode())))
    for program in (lambda lm: lm("1"), lambda lm: asyncio.run(lm.acall("1"))):
        lm = make_lm(server.config(timeout=5, retries=0))
        lm.cache = False
        program(lm)
        held = json.dumps(lm.history, default=str)
        assert SECRET not in held
        assert "think [OPENAI_API_KEY]" in held
    server.listener.close()


@pytest.mark.parametrize("packings", [1, 2])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_packed_reply_is_bounded_as_it_unpacks(packings: int, asynchronous: bool) -> None:
    packed = b"[" + b" " * 50_000_000
    for _ in range(packings):
        packed = gzip.compress(packed, 9)
    headers = b"Content-Encoding: " + b", ".join([b"gzip"] * packings) + b"\r\n"
    server, start = _Raw(lambda peer: peer.sendall(_http(packed, headers))), time.process_time()
    lm = make_lm(server.config(timeout=20, retries=0))
    lm.cache = False
    with pytest.raises((LMError, DSPyLMError), match=r"is larger than|is packed 2 times"):
        asyncio.run(lm.acall("1")) if asynchronous else lm("1")
    assert time.process_time() - start < 5
    server.listener.close()


def _http(body: bytes, headers: bytes = b"") -> bytes:
    first = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    return first + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


class _Evil:
    """An object whose reading from a pickle makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_planted_row_of_the_cache_runs_no_code(serve: Callable[..., _Server], tmp_path: Path) -> None:
    from diskcache import FanoutCache

    dspy.configure_cache(disk_cache_dir=str(tmp_path / "cache"))
    server = serve(GOOD)
    assert asked(server.config()) == ["ok"]
    planted = FanoutCache(str(tmp_path / "cache"), shards=16)
    keys = list(planted)
    assert len(keys) == 1
    planted[keys[0]] = _Evil(tmp_path / "run")
    planted.close()
    dspy.cache.reset_memory_cache()
    assert asked(server.config()) == ["ok"]
    assert not (tmp_path / "run").exists()
    assert len(server.bodies) == 2
