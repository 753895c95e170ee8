"""A server of the OpenAI chat protocol on loopback, whose replies are written down."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ScriptedServer(ThreadingHTTPServer):
    """Answers each request with the next reply as a JSON object; without a reply it answers 500.

    Attributes:
        heard: The messages of each request.
    """

    def __init__(self, replies: Sequence[Mapping[str, str]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = list(replies)
        self.heard: list[list[dict[str, Any]]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body["messages"][0]["content"] == "Reply with the word ok.":  # is the model there?
            self._say("ok")
            return
        self.server.heard.append(body["messages"])
        if not self.server.replies:
            self._send(500, {"error": {"message": "no reply is left"}})
            return
        reply = self.server.replies.pop(0)
        self._say(json.dumps({name: _value(text) for name, text in reply.items()}))

    def _say(self, text: str) -> None:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
        self._send(200, {"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    def _send(self, code: int, content: Mapping[str, Any]) -> None:
        data = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        pass


def _value(text: str) -> Any:
    return json.loads(text) if text.startswith(("[", "{")) else text
