"""A sign of life while a question is answered: the step under way, on a terminal.

    with waiting("answer") as step, following(step):
        program(report=report, question=question)

The steps are calls of language models and tools, as DSPy reports them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback


class Steps(BaseCallback):
    """Names each call of a language model and of a tool as it starts."""

    def __init__(self, step: Callable[[str], None]) -> None:
        self.step = step
        self.count = 0

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A language model is asked."""
        del call_id, inputs
        self.count += 1
        self.step(f"asking {instance.model}, call {self.count}")

    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A tool is called."""
        del call_id
        given = inputs.get("kwargs", inputs)
        words = ", ".join(f"{name}={json.dumps(value, default=str)}" for name, value in given.items())
        self.step(f"tool {instance.name}({words})")


@contextmanager
def following(step: Callable[[str], None]) -> Iterator[None]:
    """Passes the calls inside to ``step``."""
    with dspy.context(callbacks=[*dspy.settings.callbacks, Steps(step)]):
        yield
