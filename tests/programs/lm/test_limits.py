"""Servers that misbehave in many ways: each call ends in its time and memory, as a reply or as a failed turn."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import socket
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import LMError as DSPyLMError

from experiments.lms.config import make_lm
from programs.lm import limits
from programs.turns import failure_of, metered
from tests.experiments.lms.servers import RawServer, drip_body, drip_headers, endless, written_reply

Write = Callable[[socket.socket], None]

SECONDS = 0.5
"""The limit of a reply in time."""

MEGABYTES = 250
"""The growth of the peak memory by one reply, above which it is too much."""

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
SECRET = "sk-planted-0123456789abcdef"


def chat(content: Any = "[[ ## answer ## ]]\n4", usage: Any = None, **message: Any) -> bytes:
    """A reply in the OpenAI protocol."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content, **message}}
    counts = usage if usage is not None else {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return json.dumps({"id": "1", "model": "m", "choices": [choice], "usage": counts}).encode()


def said(body: bytes, headers: bytes = b"") -> Write:
    return lambda peer: peer.sendall(written_reply(body, headers))


def raw(first: bytes) -> Write:
    return lambda peer: peer.sendall(first)


def status(line: bytes, body: bytes = b"no", headers: bytes = b"") -> Write:
    return raw(b"HTTP/1.1 " + line + b"\r\n" + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def again(first: bytes, more: bytes, pause: float = 0.0) -> Write:
    def write(peer: socket.socket) -> None:
        peer.sendall(first)
        for _ in range(10**9):
            peer.sendall(more)
            time.sleep(pause)

    return write


def reset(peer: socket.socket) -> None:
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def silent(peer: socket.socket) -> None:
    time.sleep(4 * SECONDS)


def late(peer: socket.socket) -> None:
    time.sleep(4 * SECONDS)
    peer.sendall(written_reply(chat()))


def packed(times: int, size: int = 50_000_000) -> bytes:
    body = b"[" + b" " * size
    for _ in range(times):
        body = gzip.compress(body, 9)
    return body


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
BAD: dict[str, Write] = {
    "body drips": drip_body,
    "headers drip": drip_headers,
    "body without end": endless,
    "headers without end": again(OK, b"X: 1\r\n" * 1000),
    "chunks without end": again(CHUNKED, b"10000\r\n" + b" " * 0x10000 + b"\r\n"),
    "chunks drip": again(CHUNKED, b"1\r\n \r\n", 0.05),
    "trailers without end": again(CHUNKED + b"0\r\n", b"X: 1\r\n" * 10_000),
    "a chunk of negative size": raw(CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n"),
    "a chunk of huge size": again(CHUNKED + b"ffffffffff\r\n", b" " * 1_000_000),
    "silence": silent,
    "a late reply": late,
    "closes at once": lambda peer: peer.close(),
    "resets at once": reset,
    "closes after the headers": raw(OK + b"\r\n"),
    "half a body": raw(OK + b"Content-Length: 1000\r\n\r\n" + chat()),
    "a body longer than its length": raw(OK + b"Content-Length: 10\r\n\r\n" + chat()),
    "a length that is no number": raw(OK + b"Content-Length: many\r\n\r\n" + chat()),
    "a length of 5,000 digits": raw(OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + chat()),
    "a huge length": raw(OK + b"Content-Length: 99999999999\r\n\r\n" + chat()),
    "no protocol": raw(b"\x00\x01\x02\x03" * 100),
    "no status": raw(b"HTTP/1.1 abc OK\r\n\r\n"),
    "a status of 999": status(b"999 Odd"),
    "continue without end": again(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0.01),
    "redirects to itself": status(b"307 Go", headers=b"Location: /v1/chat/completions\r\n"),
    "redirects to a file": status(b"302 Go", headers=b"Location: file:///etc/passwd\r\n"),
    "refuses the key": status(b"401 No", b'{"error": {"message": "wrong key %s"}}' % SECRET.encode()),
    "is not there": status(b"404 No", b"<html>nothing</html>"),
    "is busy for a day": status(b"429 Slow", headers=b"Retry-After: 99999\r\n"),
    "is busy until another year": status(b"503 Slow", headers=b"Retry-After: Fri, 31 Dec 2199 23:59:59 GMT\r\n"),
    "a large error": status(b"500 No", b"x" * 20_000_000),
    "an error without end": again(b"HTTP/1.1 500 No\r\n\r\n", b"x" * 1_000_000),
    "an error that drips": again(b"HTTP/1.1 500 No\r\n\r\n", b"x", 0.05),
    "an error with success": said(b'{"error": {"message": "no", "code": null}}'),
    "an empty body": said(b""),
    "a page": said(b"<html>hello</html>"),
    "null": said(b"null"),
    "a number of many digits": said(b"9" * 1_000_000),
    "deep lists": said(b"[" * 1_000_000),
    "deep objects": said(b'{"a":' * 100_000),
    "no choices": said(b'{"id": "1"}'),
    "a choice of text": said(b'{"id": "1", "choices": ["4"]}'),
    "content of null": said(chat(None)),
    "content that is an object": said(chat({"answer": 4})),
    "content of 20 MB": said(chat("4" * 20_000_000)),
    "half a character": said(chat("\ud800")),
    "bytes that are no text": said(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "another encoding": said(chat().decode().encode("utf-16")),
    "usage of text": said(chat(usage={"prompt_tokens": "many"})),
    "calls of tools that are none": said(chat(None, tool_calls=[{"function": 5}])),
    "packed to bursting": said(packed(1), b"Content-Encoding: gzip\r\n"),
    "packed by another way": said(zlib.compress(b"[" + b" " * 50_000_000), b"Content-Encoding: deflate\r\n"),
    "packed without packing": said(chat(), b"Content-Encoding: gzip\r\n"),
    "half a packing": said(gzip.compress(chat())[:30], b"Content-Encoding: gzip\r\n"),
    "events in place of a reply": raw(EVENTS + b"data: {}\n\n"),
    "events without end": again(EVENTS, b"data: {}\n\n" * 10_000),
}


Opened = Callable[..., Any]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Starts a server that writes so, and gives a model of it without a cache."""
    servers: list[RawServer] = []

    def start(write: Write, timeout: float = 5, retries: int = 0) -> Any:
        servers.append(RawServer(write))
        lm = make_lm(servers[-1].config(timeout=timeout, retries=retries))
        assert lm is not None
        lm.cache = False
        return lm

    yield start
    for server in servers:
        server.listener.close()


@pytest.mark.parametrize("asynchronous", [False, True], ids=["", "async"])
@pytest.mark.parametrize("write", BAD.values(), ids=BAD)
def test_a_call_ends_in_its_time_and_memory(
    write: Write, opened: Opened, asynchronous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    lm = opened(write, timeout=SECONDS)
    ask, failure = dspy.Predict("question -> answer"), None
    peak, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with dspy.context(lm=lm), metered() as measured:
        try:
            reply = asyncio.run(ask.acall(question="?")) if asynchronous else ask(question="?")
        except Exception as error:  # noqa: BLE001 - failure_of raises what is no failure of a turn
            failure = failure_of(error, measured)
        else:
            assert isinstance(reply.answer, str | None)
    seconds = time.monotonic() - start
    assert seconds < 4 * SECONDS * max(measured.usage.lm_calls, 1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < MEGABYTES * 1000
    assert failure is None or failure[0] in ("lm_error", "no_valid_choice")
    assert SECRET not in f"{failure} {lm.history}"


@pytest.mark.parametrize("body", [chat(), chat("[[ ## answer ## ]]\n" + "4" * 1_000_000)])
@pytest.mark.parametrize("packing", ["", "gzip", "deflate"])
def test_a_reply_within_the_limits_is_read(opened: Opened, body: bytes, packing: str) -> None:
    packers = {"": bytes, "gzip": gzip.compress, "deflate": zlib.compress}
    headers = f"Content-Encoding: {packing}\r\n".encode() if packing else b""
    lm = opened(said(packers[packing](body), headers), timeout=20)
    for found in (lm("?"), asyncio.run(lm.acall("?"))):
        assert found[0].startswith("[[ ## answer ## ]]\n4")


@pytest.mark.parametrize("asynchronous", [False, True], ids=["", "async"])
def test_a_key_is_redacted_wherever_a_reply_has_it(
    opened: Opened, asynchronous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only in its text: the history and the traces keep its name, its thoughts and its calls of tools."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": json.dumps({SECRET: [SECRET]})}}
    body = json.loads(chat(f"your key is {SECRET}", reasoning_content=f"think {SECRET}", tool_calls=[call]))
    # Written with escapes, as some servers do.
    escaped = json.dumps({**body, "id": SECRET, "model": SECRET}).replace("sk-", "\\u0073k-").encode()
    lm = opened(said(escaped))
    replies = asyncio.run(lm.acall("?")) if asynchronous else lm("?")
    assert "your key is [OPENAI_API_KEY]" in str(replies)
    written = json.dumps(lm.history, default=str)
    assert SECRET not in written
    assert "think [OPENAI_API_KEY]" in written


def test_half_a_character_is_replaced(opened: Opened) -> None:
    lm = opened(said(chat("half \ud800 of it")))
    assert lm("?") == ["half ? of it"]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["", "async"])
def test_a_server_cannot_ask_to_wait_for_a_day(opened: Opened, asynchronous: bool) -> None:
    replies = [status(b"429 Slow", headers=b"Retry-After: 99999\r\n"), said(chat("ok"))]
    lm = opened(lambda peer: replies.pop(0)(peer), timeout=0.5, retries=1)
    start = time.monotonic()
    assert (asyncio.run(lm.acall("?")) if asynchronous else lm("?")) == ["ok"]
    assert time.monotonic() - start < 5


def test_each_reply_has_its_own_allowance(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_BYTES", 3_000)
    lm = opened(said(chat("x" * 1_500)))
    assert [lm("?") for _ in range(3)] == [["x" * 1_500]] * 3
    with pytest.raises(DSPyLMError, match="larger than 3000 bytes"):
        opened(said(chat("x" * 4_000)))("?")
