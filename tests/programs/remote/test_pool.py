"""Several model servers on loopback: load, a server that hangs, one that fails, and one cache and budget."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import dspy
import pytest

from kg.errors import LMError
from programs.lm import Budget, GuardedLM
from programs.remote.pool import ServerPool, _Checks

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
FAST = _Checks(after=0.4, seconds=0.5, pause=0.3)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    behaviour = "well"
    bodies: list[dict[str, Any]]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        if self.server.behaviour == "hangs":
            time.sleep(9)
        self._send(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        if self.server.behaviour == "hangs":
            time.sleep(9)
        if self.server.behaviour == "fails":
            self._send(503, {"error": {"message": "loading"}})
            return
        time.sleep(0.3 if self.server.behaviour == "slow" else 0.05)
        message = {"role": "assistant", "content": "ok"}
        self._send(
            200,
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
            },
        )

    def _send(self, status: int, content: dict[str, Any]) -> None:
        text = json.dumps(content).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        except OSError:
            pass  # the client has given up

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def servers() -> Iterator[list[_Server]]:
    found = [_Server(("127.0.0.1", 0), _Handler) for _ in range(2)]
    for one in found:
        one.bodies = []
        threading.Thread(target=one.serve_forever, daemon=True).start()
    yield found
    for one in found:
        one.shutdown()
        one.server_close()


@pytest.fixture
def make(servers: list[_Server]) -> Callable[..., GuardedLM]:
    def make(**settings: Any) -> GuardedLM:
        pool = ServerPool("openai/m", [one.base for one in servers], timeout=20.0, checks=FAST)
        return GuardedLM("openai/m", engine=pool, own_server=True, **{"cache": False, "num_retries": 0, **settings})

    return make


def ask_many(lm: GuardedLM, count: int, threads: int = 4) -> list[Any]:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda number: lm(f"question {number}"), range(count)))


def test_requests_are_shared_evenly(servers: list[_Server], make: Callable[..., GuardedLM]) -> None:
    lm = make()
    assert ask_many(lm, 20) == [["ok"]] * 20
    assert sorted(lm.engine.load().values()) == [10, 10]
    assert [len(one.bodies) for one in servers] == [10, 10]


def test_a_slow_server_gets_fewer(servers: list[_Server], make: Callable[..., GuardedLM]) -> None:
    servers[0].behaviour = "slow"
    ask_many(make(), 24)
    assert len(servers[0].bodies) < len(servers[1].bodies)


def test_a_server_that_hangs_is_given_up(servers: list[_Server], make: Callable[..., GuardedLM]) -> None:
    servers[0].behaviour = "hangs"
    lm, start = make(), time.monotonic()
    assert ask_many(lm, 20) == [["ok"]] * 20
    assert time.monotonic() - start < 8.5  # it would answer after 9 seconds
    assert 1 <= len(servers[0].bodies) <= 8
    assert lm.spent.figures()["lm_calls"] == 20


def test_a_server_that_fails_is_used_again_once_it_is_well(
    servers: list[_Server], make: Callable[..., GuardedLM]
) -> None:
    servers[0].behaviour = "fails"
    lm = make()
    ask_many(lm, 10, threads=1)
    assert 1 <= len(servers[0].bodies) <= 3  # it lists its models, and is tried again
    servers[0].behaviour = "well"
    time.sleep(1.3)
    ask_many(lm, 10, threads=1)
    assert len(servers[0].bodies) > 3


def test_where_all_fail_the_error_is_raised(servers: list[_Server], make: Callable[..., GuardedLM]) -> None:
    for one in servers:
        one.behaviour = "fails"
    with pytest.raises(dspy.utils.exceptions.LMError):
        make()("question")
    assert [len(one.bodies) for one in servers] == [1, 1]


def test_one_budget_and_one_cache_for_all(servers: list[_Server], make: Callable[..., GuardedLM]) -> None:
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=True)
    lm = make(cache=True, budget=Budget(calls=4))
    for number in (1, 2, 3, 1, 2, 3):
        lm(f"cached question {number}")
    lm("another question")
    with pytest.raises(LMError, match="4 calls"):
        lm("one question too many")
    assert sum(len(one.bodies) for one in servers) == 4
    assert lm.spent.cache_hits == 3
    single = GuardedLM("openai/m", api_base=servers[0].base, api_key="none", own_server=True)
    single("cached question 1")
    assert single.spent.cache_hits == 1  # of the pool: an address is no part of the key
    single("cached question 1", cache=False)
    bodies = [body for one in servers for body in one.bodies]
    assert bodies.count(servers[0].bodies[-1]) == 2  # the pool's requests are those of a single server


def test_a_pool_travels_to_other_processes(make: Callable[..., GuardedLM]) -> None:
    assert pickle.loads(pickle.dumps(make()))("question") == ["ok"]
