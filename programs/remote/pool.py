"""A pool of servers of one language model: each request goes to the least loaded one, and elsewhere where it fails.

    pool = ServerPool("openai/qwen", ("http://a:8080/v1", "http://b:8080/v1"))
    lm = GuardedLM("openai/qwen", engine=pool, own_server=True)

DSPy's cache and the budget are above the pool, so all servers share them. A request that waits long lets the pool check
its server: a server that does not list its models twice in a row is given up, and the request is sent to another. A
server that failed is out for a while, and is checked before it gets requests again.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
import threading
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any

import httpx
from dspy import lm15
from dspy.clients.engines.lm15_engine import LM15Engine, timeouts_for

from programs.remote.bounded import DEFAULT_SECONDS, BoundedEngines

CHECK_AFTER = 10.0
"""Seconds after which the server of a waiting request is checked, and again each time."""

CHECK_SECONDS = 5.0
"""Seconds that a server may take to list its models."""

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 60.0
"""Seconds for which a server is out after a failure; they double with each further one."""

ELSEWHERE = (lm15.TransportError, lm15.TimeoutError, lm15.ServerError, lm15.RateLimitError)
"""The failures after which another server may succeed."""


@dataclass(eq=False)
class _Server:
    """One server, and its load.

    Attributes:
        base: Its address.
        engine: DSPy's client of it.
        under_way: The number of its requests that are not answered.
        sent: The number of its requests.
        failures: The number of failures since its last reply.
        out_until: The time until which it is out; 0 where it is not.
    """

    base: str
    engine: LM15Engine
    under_way: int = 0
    sent: int = 0
    failures: int = 0
    out_until: float = 0.0


@dataclass(frozen=True)
class _Checks:
    """The seconds of :data:`CHECK_AFTER`, :data:`CHECK_SECONDS` and :data:`FIRST_PAUSE`."""

    after: float = CHECK_AFTER
    seconds: float = CHECK_SECONDS
    pause: float = FIRST_PAUSE


@dataclass
class ServerPool:
    """An engine of DSPy over several servers; safe to use from several threads.

    Attributes:
        model: The model, as DSPy names it.
        bases: The servers' addresses.
        api_key: The key of all of them.
        timeout: Seconds of a whole reply.
        checks: The times of the checks.
    """

    model: str
    bases: Sequence[str]
    api_key: str = field(default="none", repr=False)
    timeout: float = DEFAULT_SECONDS
    checks: _Checks = _Checks()

    def __post_init__(self) -> None:
        provider = LM15Engine(lm15.RouterConfig(env={})).resolve(self.model).provider
        engines = BoundedEngines()
        for base in self.bases:
            config = lm15.RouterConfig(
                api_keys={provider: self.api_key}, base_urls={provider: base}, timeouts=timeouts_for(self.timeout)
            )
            engines[base] = LM15Engine(config)
        self._servers = [_Server(base, engine) for base, engine in engines.items()]
        random.SystemRandom().shuffle(self._servers)  # the processes of a cluster begin with different ones
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> ServerPool:
        """Itself: copies of a language model share the knowledge of the load."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return ServerPool, (self.model, tuple(self.bases), self.api_key, self.timeout, self.checks)

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answers one request; raises the last error if every server fails."""
        tried: list[_Server] = []
        while True:
            server = self._choose(tried)
            try:
                reply = self._ask(server, request)
            except ELSEWHERE:
                self._fail(server)
                tried.append(server)
                if len(tried) == len(self._servers):
                    raise
            else:
                with self._lock:
                    server.failures, server.out_until = 0, 0.0
                return reply

    def load(self) -> dict[str, int]:
        """Returns the number of requests that each server got, by its address."""
        return {one.base: one.sent for one in self._servers}

    def _choose(self, tried: Collection[_Server]) -> _Server:
        """Takes the least loaded server that is not out; where all are out, the first that is due again."""
        left = [one for one in self._servers if one not in tried]
        now = time.monotonic()
        with self._lock:
            due = [one for one in left if 0 < one.out_until <= now]
            for one in due:  # only this request checks it
                one.out_until = now + self.checks.pause
        for one in due:
            if self._is_healthy(one):
                with self._lock:
                    one.out_until = 0.0
        with self._lock:
            well = [one for one in left if not one.out_until]
            chosen = min(well, key=_load) if well else min(left, key=lambda one: one.out_until)
            chosen.under_way += 1
            chosen.sent += 1
        return chosen

    def _ask(self, server: _Server, request: lm15.Request) -> lm15.Response:
        """Sends a request; gives it up where the server fails two checks in a row."""
        reply: Future[lm15.Response] = Future()
        context = contextvars.copy_context()

        def work() -> None:
            try:
                reply.set_result(context.run(server.engine.complete, request))
            except BaseException as error:  # noqa: BLE001 - it is raised again in the caller's thread
                reply.set_exception(error)

        threading.Thread(target=work, name="lm-server", daemon=True).start()
        missed = 0
        try:
            while not wait([reply], timeout=self.checks.after).done:
                missed = 0 if self._is_healthy(server) else missed + 1
                if missed == 2 and not reply.done():
                    raise lm15.TimeoutError(f"the server {server.base} hangs: it does not list its models")
            return reply.result()
        finally:
            with self._lock:
                server.under_way -= 1

    def _fail(self, server: _Server) -> None:
        with self._lock:
            server.failures += 1
            pause = min(self.checks.pause * 2 ** (server.failures - 1), LONGEST_PAUSE)
            server.out_until = time.monotonic() + pause

    def _is_healthy(self, server: _Server) -> bool:
        """Whether a server lists its models in time; a refusal is an answer too."""
        try:
            headers = {"Authorization": f"Bearer {self.api_key}"}
            found = httpx.get(f"{server.base.rstrip('/')}/models", headers=headers, timeout=self.checks.seconds)
        except (httpx.HTTPError, OSError):
            return False
        return found.status_code < 500


def _load(server: _Server) -> tuple[int, int]:
    return server.under_way, server.sent


class AsyncServerPool:
    """The same for asynchronous calls, each of which takes a thread.

    Args:
        pool: The servers.
    """

    def __init__(self, pool: ServerPool) -> None:
        self.pool = pool

    def __deepcopy__(self, memo: dict[int, Any]) -> AsyncServerPool:
        return self

    async def complete(self, request: lm15.Request) -> lm15.Response:
        """Answers one request."""
        return await asyncio.to_thread(self.pool.complete, request)
