"""A language model that only listens: it replaces a real one, and what reaches it is written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dspy
from dspy import lm15

from programs.lm.choice import ReplyChoice
from programs.lm.guarded import GuardedLM


class ListeningEngine:
    """A model that writes down what it is asked, and returns the replies that it was given."""

    supports_response_schema = True
    reads_lines = True

    def __init__(self, reply: Callable[[lm15.Request], str]) -> None:
        self.reply = reply
        self.heard: list[list[tuple[str, str]]] = []
        self.choices: list[list[str]] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> ListeningEngine:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Keeps the request's messages."""
        messages = [("system", str(request.system))] if request.system is not None else []
        messages += [(one.role, "".join(getattr(part, "text", "") for part in one.parts)) for one in request.messages]
        self.heard.append(messages)
        reply = lm15.Message.assistant(self.reply(request))
        usage = lm15.Usage(input_tokens=1, output_tokens=1)
        return lm15.Response(id=None, model=request.model, message=reply, finish_reason="stop", usage=usage)

    def choose(self, prompt: Any, replies: list[str], memory: Any = None) -> list[ReplyChoice]:
        """Keeps the prompt and the replies among which it is to choose."""
        del memory
        self.heard.append([(one["role"], one["content"]) for one in prompt])
        self.choices.append(list(replies))
        return [ReplyChoice(-1.0, -1.0) for _ in replies]


@contextmanager
def listening(reply: Callable[[lm15.Request], str], adapter: dspy.Adapter | None = None) -> Iterator[ListeningEngine]:
    """The programs that run inside ask this model."""
    engine = ListeningEngine(reply)
    with dspy.context(lm=GuardedLM("local/listening", engine=engine, cache=False), adapter=adapter):
        yield engine
