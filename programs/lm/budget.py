"""The budget of a language model, its expenses, and the adapter that suits it.

>>> Budget.parse("calls=500,tokens=200000,usd=1.50").calls
500
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from typing import Any

import dspy

from kg.errors import ConfigError, LMError
from programs.turns import cached_tokens, suited_adapter

EXPENSES = (
    "lm_calls",
    "lm_cache_hits",
    "lm_unpriced_calls",
    "lm_prompt_tokens",
    "lm_cached_prompt_tokens",
    "lm_completion_tokens",
    "lm_usd",
)
"""The names of :meth:`Expenses.figures`, which are all 0 without a language model."""


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


class SuitedAdapter(dspy.Adapter):
    """Hands every call to the adapter of :func:`suited_adapter`, or DSPy's default."""

    def __call__(self, lm: Any, *given: Any, **named: Any) -> Any:
        """Asks the model."""
        return (suited_adapter(lm) or dspy.ChatAdapter())(lm, *given, **named)

    async def acall(self, lm: Any, *given: Any, **named: Any) -> Any:
        """Asks the model asynchronously."""
        return await (suited_adapter(lm) or dspy.ChatAdapter()).acall(lm, *given, **named)
