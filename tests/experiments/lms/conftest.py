from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from tests.experiments.lms.servers import BadServer, Reply, Script


@pytest.fixture
def serve() -> Iterator[Callable[..., BadServer]]:
    """Starts a server that goes through replies, the last of which it repeats; or asks a function for each."""
    servers: list[BadServer] = []

    def start(*replies: Reply, script: Script | None = None) -> BadServer:
        waiting = list(replies)
        servers.append(BadServer(script or (lambda _: waiting.pop(0) if len(waiting) > 1 else waiting[0])))
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
