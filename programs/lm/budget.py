"""The budget of a language model, its expenses, the usage and failures of a turn, and turns at the same time.

>>> Budget.parse("calls=500,tokens=200000,usd=1.50").calls
500
>>> with metered() as measured:
...     program(question="what were revenues in 2008?")
>>> measured.usage.lm_calls
2
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

import dspy
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.errors import ConfigError, FinpathError, LMError
from programs.turns import Failure, NoAnswerError, Usage

Item = TypeVar("Item")
Result = TypeVar("Result")

LONGEST_MESSAGE = 2_000
"""Characters of an error that a turn keeps; a reply may be quoted in it."""


def cached_tokens(usage: Mapping[str, Any]) -> int:
    """The tokens of a call's prompt that were in the model's cache, as far as it is known."""
    details = usage.get("prompt_tokens_details") or {}
    return int(details.get("cached_tokens") or 0)


@dataclass(frozen=True)
class Budget:
    """The limits of a language model; ``None`` is no limit.

    Attributes:
        calls: Requests that are not answered from the cache.
        tokens: Tokens of prompts and replies together.
        usd: US dollars, by DSPy's price list.
    """

    calls: int | None = None
    tokens: int | None = None
    usd: Decimal | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not value > 0:
                raise ConfigError(f"the budget's {field.name} must be more than 0, got {value}")

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Reads ``calls=500,tokens=200000,usd=1.50``, of which any part may be left out.

        Raises:
            ConfigError: It is not written so.
        """
        values: dict[str, Any] = {}
        for part in text.split(","):
            name, _, value = (piece.strip() for piece in part.partition("="))
            try:
                values[name] = Decimal(value) if name == "usd" else int(value)
                if not Decimal(values[name]).is_finite():
                    raise ValueError
            except (InvalidOperation, ValueError):
                raise ConfigError(f"the budget's {name} must be a number, got {value!r}") from None
        if not set(values) <= {field.name for field in fields(cls)}:
            raise ConfigError(f"a budget is written calls=500,tokens=200000,usd=1.50; got {text!r}")
        return cls(**values)


class Expenses:
    """The expenses of a language model and all its copies; safe to use from several threads.

    Attributes:
        calls: Requests that were sent.
        cache_hits: Requests that DSPy's cache answered.
        prompt_tokens: Tokens of prompts that were sent.
        cached_prompt_tokens: Those of them in the model's cache.
        completion_tokens: Tokens of replies.
        usd: The costs of the calls with a known price.
        unpriced_calls: Calls whose price is not known.
    """

    def __init__(self) -> None:
        self.calls = self.cache_hits = self.unpriced_calls = 0
        self.prompt_tokens = self.cached_prompt_tokens = self.completion_tokens = 0
        self.usd = Decimal(0)
        self._under_way = 0
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> Expenses:
        return self

    def __getstate__(self) -> dict[str, Any]:
        """The counts, without the calls under way and the lock: those belong to a process."""
        with self._lock:
            return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        Expenses.__init__(self)
        vars(self).update(state)

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies together."""
        return self.prompt_tokens + self.completion_tokens

    def figures(self) -> dict[str, float]:
        """The counts under stable names."""
        counts = {f"lm_{name}": value for name, value in self.__getstate__().items()}
        return {**counts, "lm_usd": float(counts["lm_usd"])}

    def begin(self, model: str, budget: Budget) -> None:
        """Reserves a call.

        Raises:
            LMError: A cap is reached.
        """
        with self._lock:
            spent = {"calls": self.calls + self._under_way, "tokens": self.tokens, "usd": self.usd}
            caps = {name: cap for name in spent if (cap := getattr(budget, name)) is not None}
            if reached := [f"{cap} {name}" for name, cap in caps.items() if spent[name] >= cap]:
                raise LMError(f"the budget of {model} is spent: {', '.join(reached)}")
            if budget.usd is not None and self.unpriced_calls:
                raise LMError(f"the budget's usd cannot be kept to: the price of {model} is not known")
            self._under_way += 1

    def end(self, usage: Mapping[str, Any] | None, cost: Decimal | None, *, answered: bool) -> None:
        """Books a call; without usage a call that was answered came from the cache."""
        with self._lock:
            self._under_way -= 1
            if usage is None and answered:
                self.cache_hits += 1
                return
            self.calls += 1
            usage = usage if usage is not None else {}
            self.prompt_tokens += int(usage.get("prompt_tokens") or 0)
            self.completion_tokens += int(usage.get("completion_tokens") or 0)
            self.cached_prompt_tokens += cached_tokens(usage)
            if cost is not None:
                self.usd += cost
            elif answered:
                self.unpriced_calls += 1


def is_embedded(lm: Any) -> bool:
    """Whether a language model runs in this process."""
    return bool(getattr(getattr(lm, "engine", None), "in_process", False))


def suited_adapter(lm: Any) -> dspy.Adapter | None:
    """DSPy's adapter for a language model: JSON for one that can be held to a schema, else ``None``, its default."""
    return dspy.JSONAdapter() if is_embedded(lm) or getattr(lm, "own_server", False) else None


class SuitedAdapter(dspy.Adapter):
    """Hands every call to the adapter of :func:`suited_adapter`, or DSPy's default."""

    def __call__(self, lm: Any, *given: Any, **named: Any) -> Any:
        """Asks the model."""
        return (suited_adapter(lm) or dspy.ChatAdapter())(lm, *given, **named)

    async def acall(self, lm: Any, *given: Any, **named: Any) -> Any:
        """Asks the model asynchronously."""
        return await (suited_adapter(lm) or dspy.ChatAdapter()).acall(lm, *given, **named)


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


def concurrently(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yields what a function returns for each item, in their order; its first exception is raised here.

    Each call has a copy of the context, so settings of DSPy and recorders of calls hold in all threads.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        for future in [pool.submit(copy_context().run, function, item) for item in items]:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)
