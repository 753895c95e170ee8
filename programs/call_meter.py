"""Counts the calls to language models that are made in a context, by DSPy's own callbacks.

>>> meter = CallMeter()
>>> with dspy.context(callbacks=[*dspy.settings.callbacks, meter]):
...     program(question="what were revenues in 2008?")
>>> meter.calls
2
"""

from __future__ import annotations

from typing import Any

from dspy.utils.callback import BaseCallback


class CallMeter(BaseCallback):
    """Counts every call to a language model: those that the cache answers, and those that fail, too.

    Attributes:
        calls: How many there were.
        failure: What the last call that failed raised. A model that is a subclass with a ``forward`` of its own raises
            whatever it likes: by this a failure of the model is told from one of the program.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.failure: BaseException | None = None

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002
        """A call begins."""
        self.calls += 1

    def on_lm_end(
        self,
        call_id: str,  # noqa: ARG002
        outputs: dict[str, Any] | None,  # noqa: ARG002
        exception: BaseException | None = None,
    ) -> None:
        """A call has ended."""
        if exception is not None:
            self.failure = exception
