"""A ``dspy.LM`` with a budget and limits; it takes keys out of messages and template tokens out of prompts.

    >>> lm = GuardedLM("openai/gpt-4o-mini", budget=Budget.parse("calls=500,tokens=200000,usd=1.50"))
    >>> lm("2 + 2?"), lm.spent.calls, lm.spent.cache_hits
    (['4'], 1, 0)

When a cap is reached, the next call raises :class:`kg.errors.LMError`. Running calls are not stopped, so tokens and
money can exceed their cap by the cost of these calls. Replies from DSPy's cache cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from decimal import Decimal
from typing import Any

import dspy
from dspy import lm15
from dspy.utils.exceptions import LMError as DSPyLMError

from programs.lm.budget import Budget, Expenses
from programs.lm.engine import AsyncEmbeddedEngine
from programs.lm.limits import LimitedEngines
from programs.lm.marks import without_special_tokens
from programs.lm.secrets import Redacting, redact

_cost: ContextVar[float | None] = ContextVar("finpath_call_cost", default=None)


class GuardedLM(dspy.LM):
    """A language model with a budget.

    Args:
        model: As ``dspy.LM`` takes it.
        budget: The caps, for this model and all its copies together; none by default.
        free: Whether its calls cost nothing, because it runs on the user's own machine.
        own_server: Whether the user's own server answers. DSPy does not know its models. The common servers (llama.cpp,
            vLLM, SGLang) can hold replies to a JSON schema, so they are asked to.
        **settings: As ``dspy.LM`` takes them.
    """

    def __init__(
        self,
        model: str,
        *,
        budget: Budget | None = None,
        free: bool = False,
        own_server: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(model, **settings)
        self._engine_store = LimitedEngines()
        self.budget = budget if budget is not None else Budget()
        self.free = free
        self.own_server = own_server
        self.spent = Expenses()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._engine_store = LimitedEngines()

    @property
    def supports_response_schema(self) -> bool:
        """Whether replies can be held to a JSON schema."""
        return self.own_server or bool(super().supports_response_schema)

    @property
    def supported_params(self) -> set[str]:
        """The settings that a request may have."""
        known: set[str] = super().supported_params
        return known | {"response_format"} if self.own_server else known

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        """Asks the model.

        Raises:
            LMError: The budget is spent.
        """
        with self._counted():
            return super().__call__(*map(guarded, arguments), **_guarded_settings(settings))

    async def acall(self, *arguments: Any, **settings: Any) -> Any:
        """Asks the model asynchronously."""
        with self._counted():
            return await super().acall(*map(guarded, arguments), **_guarded_settings(settings))

    def copy(self, **settings: Any) -> GuardedLM:
        """A copy with other settings; the name of an adapter of an embedded model loads the adapter."""
        model = settings.get("model")
        if model is not None and "engine" not in settings and hasattr(self.engine, "with_adapter"):
            engine = self.engine.with_adapter(model)
            settings |= {"engine": engine, "async_engine": AsyncEmbeddedEngine(engine)}
        copied: GuardedLM = super().copy(**settings)
        return copied

    def update_history(self, entry: Mapping[str, Any]) -> None:
        """Remembers the call as DSPy does, and what it cost."""
        _cost.set(entry.get("cost"))
        super().update_history(entry)

    def dump_state(self) -> dict[str, Any]:
        """The state of a plain ``dspy.LM``: a budget belongs to a run, not to a saved program."""
        own, plain = (f"{kind.__module__}.{kind.__qualname__}" for kind in (type(self), dspy.LM))
        state: dict[str, Any] = super().dump_state()
        return {key: plain if value == own else value for key, value in state.items()}

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Counts a call by DSPy's own usage and price."""
        self.spent.begin(self.model, self.budget)
        tee, answered = _Tee(dspy.settings.usage_tracker), False
        _cost.set(None)
        # The first of the callbacks: those that write traces learn of an error before it leaves the model.
        changed: dict[str, Any] = {"usage_tracker": tee, "callbacks": [Redacting(), *dspy.settings.callbacks]}
        if self.budget.usd is not None:
            changed["disable_history"] = False  # a call's price is known from its entry in the history
        try:
            with dspy.context(**changed):
                yield
            answered = True
        except DSPyLMError as error:
            redact(error)
            raise
        finally:
            cost = _cost.get()
            price = Decimal(0) if self.free else Decimal(str(cost)) if cost is not None else None
            self.spent.end(tee.usage, price, answered=answered)


class _Tee:
    """Keeps a call's usage, and passes it on to DSPy's own tracker."""

    def __init__(self, tracker: Any) -> None:
        self.tracker = tracker
        self.usage: Mapping[str, Any] | None = None

    def add_usage(self, model: str, usage: Mapping[str, Any]) -> None:
        self.usage = usage
        if self.tracker is not None:
            self.tracker.add_usage(model, usage)


def _guarded_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: guarded(value) if name in ("prompt", "messages") else value for name, value in settings.items()}


def guarded(content: Any) -> Any:
    """A prompt or messages without the tokens that divide a chat's messages: only its template may write those.

    Some servers read such a token in the text of a message as if they had written it themselves.
    """
    if isinstance(content, str):
        return without_special_tokens(content)
    if isinstance(content, list):
        # In place: DSPy knows the messages of its own adapters by the list that they are in, and warns of any other.
        content[:] = map(guarded, content)
    if isinstance(content, tuple):
        return tuple(map(guarded, content))
    if isinstance(content, Mapping):
        return {key: guarded(value) if key in ("content", "text") else value for key, value in content.items()}
    if isinstance(content, lm15.Request):
        system = guarded(content.system) if content.system is not None else None
        return replace(content, messages=guarded(content.messages), system=system)
    if isinstance(content, lm15.Message):
        return replace(content, parts=guarded(content.parts))
    return replace(content, text=guarded(content.text)) if isinstance(content, lm15.TextPart) else content
