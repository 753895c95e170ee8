"""Replies of a server bounded in time and size, and without the keys that they repeat."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import time
from collections.abc import Callable

import dspy
import pytest
from dspy.utils.exceptions import LMError as DSPyLMError

from experiments.lms.config import make_lm
from kg.errors import LMError
from programs.remote import bounded
from tests.experiments.lms.servers import (
    GOOD,
    SECRET,
    BadServer,
    RawServer,
    Reply,
    asked,
    drip_body,
    drip_headers,
    endless,
    written_reply,
)


@pytest.mark.parametrize("write", [drip_body, drip_headers, endless])
def test_a_reply_is_bounded_as_a_whole_in_time_and_size(write: Callable[[socket.socket], None]) -> None:
    server, start = RawServer(write), time.monotonic()
    with pytest.raises((LMError, DSPyLMError)):
        asked(server.config(timeout=1, retries=0))
    assert time.monotonic() - start < 6
    server.listener.close()


@pytest.mark.parametrize("write", [drip_body, drip_headers, endless])
def test_an_asynchronous_reply_is_bounded_too(write: Callable[[socket.socket], None]) -> None:
    server, start = RawServer(write), time.monotonic()
    lm = make_lm(server.config(timeout=1, retries=0))
    assert lm is not None
    with pytest.raises((LMError, DSPyLMError)):
        asyncio.run(lm.acall("?"))
    assert time.monotonic() - start < 6
    server.listener.close()


def test_an_asynchronous_program_ends_its_turn_where_the_server_drips() -> None:
    server, start = RawServer(drip_body), time.monotonic()
    with dspy.context(lm=make_lm(server.config(timeout=1, retries=0))), pytest.raises((LMError, DSPyLMError)):
        asyncio.run(dspy.Predict("question -> answer").acall(question="?"))
    assert time.monotonic() - start < 10
    server.listener.close()


def test_asynchronous_replies_share_a_connection_and_each_has_its_own_allowance(
    serve: Callable[..., BadServer], monkeypatch: pytest.MonkeyPatch
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
    serve: Callable[..., BadServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    server = serve(Reply(429, "slow down", {"Retry-After": "99999"}), Reply(text=f"your key is {SECRET}"))
    lm = make_lm(server.config(retries=1, timeout=1))
    assert lm is not None
    start = time.monotonic()
    assert asyncio.run(lm.acall("?")) == ["your key is [OPENAI_API_KEY]"]
    assert time.monotonic() - start < 10


def test_a_server_cannot_ask_to_wait_for_a_day(serve: Callable[..., BadServer], pauses: list[float]) -> None:
    server = serve(Reply(429, "slow down", {"Retry-After": "99999"}), GOOD)
    assert asked(server.config(retries=1, timeout=3)) == ["ok"]
    assert pauses == [3]


def test_a_key_in_a_reply_is_redacted_and_half_a_character_replaced(
    serve: Callable[..., BadServer], monkeypatch: pytest.MonkeyPatch
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
    server = RawServer(lambda peer: peer.sendall(written_reply(json.dumps(body).encode())))
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
    server, start = RawServer(lambda peer: peer.sendall(written_reply(packed, headers))), time.process_time()
    lm = make_lm(server.config(timeout=20, retries=0))
    lm.cache = False
    with pytest.raises((LMError, DSPyLMError), match=r"is larger than|is packed 2 times"):
        asyncio.run(lm.acall("1")) if asynchronous else lm("1")
    assert time.process_time() - start < 5
    server.listener.close()
