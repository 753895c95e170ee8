"""A language model whose replies, failures and token counts are written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dspy
import pytest
from dspy import lm15

from programs.guarded_lm import GuardedLM

Reply = Mapping[str, str] | Exception


class ScriptedEngine:
    """Replies in the chat adapter's form; an exception is raised in its turn."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.replies = list(replies)

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptedEngine:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        text = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in reply.items())
        usage = lm15.Usage(input_tokens=100, output_tokens=7)
        message = lm15.Message.assistant(text)
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


@pytest.fixture
def scripted_lm() -> Callable[..., dspy.LM]:
    """Makes such a model, one that may have a budget."""

    def make(replies: Sequence[Reply], **settings: Any) -> dspy.LM:
        engine = ScriptedEngine(replies)
        return GuardedLM("local/scripted", engine=engine, **{"cache": False, "num_retries": 0, **settings})

    return make
