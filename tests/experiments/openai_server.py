"""A server of the OpenAI chat protocol on loopback, whose replies are written down."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.experiments.lms.servers import GOOD, BadServer, Reply


class ScriptedServer(BadServer):
    """Answers each request with the next reply as a JSON object; without a reply it answers 500.

    Attributes:
        heard: The messages of each request.
    """

    def __init__(self, replies: Sequence[Mapping[str, str]]) -> None:
        self.replies = list(replies)
        self.heard: list[list[dict[str, Any]]] = []
        super().__init__(self._next)

    @property
    def url(self) -> str:
        return str(self.config().api_base)

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self.server_close()

    def _next(self, body: str) -> Reply:
        messages = json.loads(body)["messages"]
        if messages[0]["content"] == "Reply with the word ok.":  # is the model there?
            return GOOD
        self.heard.append(messages)
        if not self.replies:
            return Reply(500, "no reply is left")
        return Reply(text=json.dumps({name: _value(text) for name, text in self.replies.pop(0).items()}))


def _value(text: str) -> Any:
    return json.loads(text) if text.startswith(("[", "{")) else text
