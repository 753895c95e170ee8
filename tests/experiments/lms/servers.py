"""Servers on loopback that limit, fail, hang, drop, drip and babble as told."""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

from experiments.lms.config import LMConfig, make_lm

SECRET = "sk-planted-0123456789abcdef"


_EACH = ("%{:02x}", "%25{:02x}", "\\u{:04x}", "\\x{:02x}", "&#{};", "&#x{:x};", "{:02x}", "{:02X} ", "{:02x}:")
ECHOES = (
    *(SECRET, quote(SECRET, safe=""), base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("=")),
    *("".join(form.format(ord(letter)) for letter in SECRET) for form in _EACH),
    *(base64.b64encode(f"{before}{SECRET}:x".encode()).decode() for before in ("", "a", "ab", "user:")),
    *(base64.b32encode(f"{before}{SECRET}:x".encode()).decode() for before in ("", "a", "ab", "abc", "abcd")),
)
"""The secret as a server may echo it."""


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


class BadServer(ThreadingHTTPServer):
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
    server: BadServer

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


class RawServer:
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


def drip_body(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(200):
        peer.sendall(b" ")
        time.sleep(0.1)


def drip_headers(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(200):
        peer.sendall(b"X-%d: 1\r\n" % number)
        time.sleep(0.1)


def endless(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
    while True:
        peer.sendall(b" " * (1 << 20))


def written_reply(body: bytes, headers: bytes = b"") -> bytes:
    first = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    return first + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


def asked(config: LMConfig, question: str = "?") -> list[Any]:
    lm = make_lm(config)
    assert lm is not None
    said: list[Any] = lm(question)
    return said
