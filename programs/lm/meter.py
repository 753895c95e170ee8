"""Meters of the calls to language models in a context, by DSPy's callbacks; failures of a turn.

>>> meter = CallMeter()
>>> with dspy.context(callbacks=[*dspy.settings.callbacks, meter]):
...     program(question="what were revenues in 2008?")
>>> meter.calls
2
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.errors import FinpathError, LMError
from programs.lm.adapter import suited_adapter
from programs.lm.budget import cached_tokens
from programs.turns import Failure, NoAnswerError, Usage


class CallMeter(BaseCallback):
    """A counter of all calls to a language model, also of cached and failed ones.

    Attributes:
        calls: The number of calls.
        usage: Calls, tokens and time, once the context of :func:`metered` is left.
        failure: The exception of the last failed call. It separates failures of the model from those of the program, as
            a subclass with its own ``forward`` may raise anything.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.usage = Usage()
        self.failure: BaseException | None = None

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002
        """A call begins."""
        self.calls += 1

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:  # noqa: ARG002
        """A call has ended."""
        self.failure = exception if exception is not None else self.failure


LONGEST_MESSAGE = 2_000
"""Characters of an error that a turn keeps; a reply may be quoted in it."""


@contextmanager
def metered() -> Iterator[CallMeter]:
    """Counts what the calls inside take, through the adapter that suits the language model unless one is set."""
    measured, started = CallMeter(), time.perf_counter()
    adapter = dspy.settings.adapter if dspy.settings.adapter is not None else suited_adapter(dspy.settings.lm)
    callbacks = [*dspy.settings.callbacks, measured]
    with dspy.context(adapter=adapter, callbacks=callbacks), dspy.track_usage() as tracker:
        yield measured
    sent = [entry for entries in tracker.usage_data.values() for entry in entries]
    measured.usage = Usage(
        lm_calls=measured.calls,
        prompt_tokens=sum(int(entry.get("prompt_tokens") or 0) for entry in sent),
        completion_tokens=sum(int(entry.get("completion_tokens") or 0) for entry in sent),
        seconds=time.perf_counter() - started,
        cached_prompt_tokens=sum(map(cached_tokens, sent)),
    )


def failure_of(error: Exception, meter: CallMeter) -> tuple[Failure, str]:
    """The failure that an error of the language model, the search or the data becomes, and its message.

    Args:
        error: The error.
        meter: The meter of the turn, which knows what a language model raised.

    Raises:
        Exception: ``error`` itself, if it is none of these.
    """
    message = f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]
    if isinstance(error, NoAnswerError):
        return error.failure, str(error)
    if isinstance(error, AdapterParseError | RecursionError):  # JSON that is nested too deeply is no reply either
        return "no_valid_choice", message
    if isinstance(error, DSPyLMError | LMError) or error is meter.failure:
        return "lm_error", message
    if isinstance(error, FinpathError):
        return "error", message
    raise error
