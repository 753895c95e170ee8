"""One limit on the time and one on the size of a remote model's whole reply.

The timeout of DSPy, as that of httpx, is one of each read: a server that sends a byte at a time holds a turn for hours,
and an endless body fills the memory. So DSPy's engines of a model read their replies through httpx in one loop of this
process, where each call as a whole ends in its time, and a body is read, and unpacked, up to its size.

    lm._engine_store = LimitedEngines()      # each engine is limited when DSPy adds it
"""

from __future__ import annotations

import asyncio
import json
import threading
import zlib
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import httpx
from dspy import lm15
from dspy.clients.engines.lm15_engine import AsyncLM15Engine, LM15Engine

from kg.errors import LMError
from kg.secrets import without_secrets

MOST_BYTES = 8_000_000
"""Bytes of one reply, as it is sent and as it is unpacked."""

DEFAULT_SECONDS = 120.0
"""Seconds of one reply where no timeout is set."""

_CONNECT_SECONDS = 10.0

ValueT = TypeVar("ValueT")


class LimitedEngines(dict[Any, Any]):
    """The engines of a model, each limited as it is added."""

    def __setitem__(self, key: Any, engine: Any) -> None:
        if isinstance(engine, LM15Engine | AsyncLM15Engine):
            limited = _LimitedEngine(engine)
            engine.complete = limited.acomplete if isinstance(engine, AsyncLM15Engine) else limited.complete
        super().__setitem__(key, engine)


class _LimitedEngine:
    """Answers as an engine of DSPy does, within the limits."""

    def __init__(self, engine: LM15Engine | AsyncLM15Engine) -> None:
        timeouts = engine.config.timeouts
        self._seconds = float(timeouts.read) if timeouts is not None else DEFAULT_SECONDS
        config = replace(engine.config, transport=_Transport(), timeouts=None)
        self._engine = AsyncLM15Engine(config, model_type=engine.model_type)

    def complete(self, request: lm15.Request) -> lm15.Response:
        return _begun(self._answer(request)).result()

    async def acomplete(self, request: lm15.Request) -> lm15.Response:
        return await asyncio.wrap_future(_begun(self._answer(request)))

    async def _answer(self, request: lm15.Request) -> lm15.Response:
        try:
            async with asyncio.timeout(self._seconds):
                reply: lm15.Response = await self._engine.complete(request)
                return reply
        except TimeoutError as error:
            raise lm15.TimeoutError(f"the whole reply took longer than {self._seconds:g} seconds") from error
        except lm15.LM15Error as error:
            if error.retry_after is not None:  # a server cannot ask to wait for a day
                error.retry_after = min(error.retry_after, self._seconds)
            raise
        except (TypeError, ValueError, AttributeError, LookupError, RecursionError) as error:  # of DSPy, over the reply
            raise LMError(f"the language model's reply is not of its protocol: {error}") from error


@dataclass
class _Reply:
    """A reply as DSPy's providers read it."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    http_version: str
    body: bytes

    async def read(self) -> bytes:
        return self.body

    async def aiter_lines(self) -> AsyncIterator[bytes]:
        for line in self.body.splitlines(keepends=True):
            yield line


class _Transport:
    """Sends the requests of DSPy's providers by httpx, and reads whole replies up to the limit."""

    @asynccontextmanager
    async def stream(self, request: Any) -> AsyncIterator[_Reply]:
        headers = [*request.headers, ("Accept-Encoding", "identity")]
        try:
            async with _client().stream(request.method, request.url, headers=headers, content=request.body) as sent:
                body = await _body(sent)
        except (httpx.HTTPError, httpx.InvalidURL, zlib.error) as error:
            raise lm15.TransportError(str(error) or type(error).__name__) from error
        yield _Reply(sent.status_code, sent.reason_phrase, sent.headers.multi_items(), sent.http_version, _clean(body))


async def _body(reply: httpx.Response) -> bytes:
    packing = reply.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise LMError(f"the language model's reply is packed as {packing}")
    unpacked = zlib.decompressobj(wbits=47) if packing not in ("identity", "") else None
    body = bytearray()
    async for part in reply.aiter_raw():
        body += part if unpacked is None else unpacked.decompress(part, MOST_BYTES + 1 - len(body))
        if max(len(body), reply.num_bytes_downloaded) > MOST_BYTES:
            raise LMError(f"the language model's reply is larger than {MOST_BYTES} bytes")
    return bytes(body)


def _clean(body: bytes) -> bytes:
    """A body without the values of keys, and without halves of pairs of characters.

    Raises:
        LMError: It is nested too deeply.
    """
    try:
        return json.dumps(without_secrets(json.loads(body))).encode()
    except ValueError:
        return str(without_secrets(body.decode("utf-8", errors="replace"))).encode("utf-8", errors="replace")
    except RecursionError as error:
        raise LMError("the language model's reply is nested too deeply") from error


def _begun(work: Coroutine[Any, Any, ValueT]) -> Future[ValueT]:
    return asyncio.run_coroutine_threadsafe(work, _loop())


@cache
def _client() -> httpx.AsyncClient:
    """The connections of all models."""
    return httpx.AsyncClient(timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS))


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The loop in which replies are read; its thread ends with the process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="lm-replies", daemon=True).start()
    return loop
