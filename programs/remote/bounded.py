"""Calls of remote models that end: a limit on the time and the size of a whole reply, and no keys in its text.

DSPy's own timeout is one of each read. A server that sends one byte at a time, or an endless body, would hold a turn.

    lm._engine_store = BoundedEngines()      # every engine that DSPy makes for the model is bounded when it is kept
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any

from dspy import lm15
from dspy._vendor.lm15.transports import StdlibAsyncTransport, StdlibTransport
from dspy.clients.engines.lm15_engine import AsyncLM15Engine, LM15Engine

from kg.errors import LMError
from programs.remote.secrets import mapped, redactor

MOST_BYTES = 8_000_000
"""Bytes of one reply, its headers included."""

_TOO_LARGE = f"the language model's reply is larger than {MOST_BYTES} bytes"

DEFAULT_SECONDS = 120.0
"""Seconds of one reply where no timeout is set."""


class BoundedEngines(dict[Any, Any]):
    """The engines of a model, each bounded as it is added."""

    def __setitem__(self, key: Any, engine: Any) -> None:
        if isinstance(engine, LM15Engine) and engine.config.transport is None:
            _bind(engine)
        elif isinstance(engine, AsyncLM15Engine) and engine.config.transport is None:
            _bind_async(engine)
        super().__setitem__(key, engine)


def _seconds(engine: LM15Engine | AsyncLM15Engine) -> float:
    timeouts = engine.config.timeouts
    return float(timeouts.read) if timeouts is not None and timeouts.read else DEFAULT_SECONDS


def _bind_async(engine: AsyncLM15Engine) -> None:
    seconds = _seconds(engine)
    engine.router._transport = BoundedAsyncTransport(**engine.config.transport_kwargs())
    complete: Callable[[lm15.Request], Awaitable[lm15.Response]] = engine.complete

    async def bounded(request: lm15.Request) -> lm15.Response:
        try:
            async with asyncio.timeout(seconds):
                reply = await complete(request)
        except TimeoutError as error:
            raise lm15.TimeoutError(f"the whole reply took longer than {seconds:g} seconds") from error
        except lm15.LM15Error as error:
            if error.retry_after is not None:
                error.retry_after = min(error.retry_after, seconds)
            raise
        return _cleaned(reply)

    engine.complete = bounded


def _bind(engine: LM15Engine) -> None:
    seconds = _seconds(engine)
    # The router makes its transport when it is first needed, unless it has one.
    engine.router._transport = BoundedTransport(seconds, **engine.config.transport_kwargs())
    complete: Callable[[lm15.Request], lm15.Response] = engine.complete

    def bounded(request: lm15.Request) -> lm15.Response:
        try:
            return _cleaned(complete(request))
        except lm15.LM15Error as error:
            if error.retry_after is not None:
                error.retry_after = min(error.retry_after, seconds)
            raise

    engine.complete = bounded


class BoundedTransport(StdlibTransport):
    """DSPy's transport with a limit on the time and the size of each whole reply.

    Args:
        seconds: From the request to the end of the reply.
        settings: As the transport takes them.
    """

    def __init__(self, seconds: float, **settings: Any) -> None:
        super().__init__(**settings)
        self._seconds = seconds
        self._allowance = _Allowance()

    def stream(self, request: Any) -> Any:
        """Sends a request and returns its reply, whose body is read in the same thread."""
        self._allowance.start(self._seconds)
        reply = super().stream(request)
        try:
            _check_packing(reply.headers_all("content-encoding"))
        except LMError:
            reply.close()
            raise
        reply._chunks = _within(reply._chunks)
        return reply

    def _open(self, *arguments: Any, **settings: Any) -> Any:
        connection = super()._open(*arguments, **settings)
        connection.sock = _BoundedSocket(connection.sock, self._allowance)
        return connection


class BoundedAsyncTransport(StdlibAsyncTransport):
    """DSPy's asynchronous transport with a limit on the size of each whole reply; the engine's limit is the time."""

    async def _open(self, *arguments: Any, **settings: Any) -> Any:
        connection = await super()._open(*arguments, **settings)
        connection.reader = _BoundedReader(connection.reader)
        return connection

    async def _do_stream(self, request: Any) -> Any:
        reply = await super()._do_stream(request)
        try:
            _check_packing(reply.headers_all("content-encoding"))
        except LMError:
            await reply.aclose()
            raise
        reply._chunks = _within_async(reply._chunks)
        return reply

    async def _send_request(self, conn: Any, *arguments: Any, **settings: Any) -> None:
        conn.reader.left = MOST_BYTES
        await super()._send_request(conn, *arguments, **settings)


class _BoundedReader:
    """A stream that gives so many bytes alone."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.left = MOST_BYTES

    async def read(self, size: int = -1) -> bytes:
        found: bytes = await self._inner.read(size)
        self.left -= len(found)
        if self.left < 0:
            raise LMError(_TOO_LARGE)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Allowance(threading.local):
    """The time and the bytes that the current reply of a thread may still take."""

    def __init__(self) -> None:
        self.start(DEFAULT_SECONDS)

    def start(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.bytes = MOST_BYTES

    def seconds(self) -> float:
        """Returns the seconds that are left.

        Raises:
            TimeoutError: None is left.
        """
        left = self.end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the whole reply took too long")
        return left

    def spend(self, count: int) -> None:
        """Counts bytes of the reply.

        Raises:
            LMError: There are too many.
        """
        self.bytes -= count
        if self.bytes < 0:
            raise LMError(_TOO_LARGE)


class _BoundedSocket:
    """A socket whose reads count against an allowance."""

    def __init__(self, inner: Any, allowance: _Allowance) -> None:
        self._inner = inner
        self._allowance = allowance
        self._timeout: float | None = None

    def settimeout(self, seconds: float | None) -> None:
        self._timeout = seconds
        self._inner.settimeout(seconds)

    def recv(self, size: int) -> bytes:
        left = self._allowance.seconds()
        self._inner.settimeout(left if self._timeout is None else min(left, self._timeout))
        found: bytes = self._inner.recv(size)
        self._allowance.spend(len(found))
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _check_packing(values: Sequence[str]) -> None:
    """Raises LMError where a body is packed more than once: a few bytes of it could fill the memory."""
    packings = [one for value in values for one in value.split(",") if one.strip().lower() not in ("", "identity")]
    if len(packings) > 1:
        raise LMError(f"the language model's reply is packed {len(packings)} times")


def _spent(left: int, chunk: bytes) -> int:
    """Returns the bytes that are left after a part of a body, as it is unpacked.

    Raises:
        LMError: None is left.
    """
    if len(chunk) > left:
        raise LMError(_TOO_LARGE)
    return left - len(chunk)


def _within(chunks: Iterable[bytes]) -> Iterator[bytes]:
    left = MOST_BYTES
    for chunk in chunks:
        left = _spent(left, chunk)
        yield chunk


async def _within_async(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    left = MOST_BYTES
    async for chunk in chunks:
        left = _spent(left, chunk)
        yield chunk


def _cleaned(reply: lm15.Response) -> lm15.Response:
    """Returns a reply without the values of keys, and without halves of pairs of characters.

    Raises:
        LMError: It is nested too deeply.
    """
    redacted = redactor()

    def clean(text: str) -> str:
        changed = redacted(text)
        whole = changed.encode("utf-8", errors="replace").decode("utf-8")
        return text if whole == text else whole

    try:
        found: lm15.Response = mapped(reply, clean)
    except RecursionError as error:
        raise LMError("the language model's reply is nested too deeply") from error
    return found
