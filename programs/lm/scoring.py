"""Scores of given replies to one prompt; their common beginnings are computed once.

>>> scoring = Scoring(engine, server, prompt=[1, 2, 3], end=True, margin=None)
>>> scoring.score((40, 41)), scoring.score((40, 42))    # the second computes nothing again for 40
(-3.2, -5.9)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import dspy


class Forcing(Protocol):
    """A model that scores given tokens."""

    def forced(
        self, server: Any, prompt: Sequence[int], tokens: Sequence[int], end: bool, usage: TokenCounts
    ) -> list[float]:
        """Returns the log-probabilities of ``tokens`` after ``prompt``, and of the end if ``end``."""


class Scoring:
    """The scores of replies to one prompt, with a memory of their common beginnings."""

    def __init__(self, engine: Forcing, server: Any, prompt: list[int], end: bool, margin: float | None) -> None:
        self.engine = engine
        self.server = server
        self.prompt = prompt
        self.end = end
        self.margin = margin
        self.usage = TokenCounts()
        self.known: dict[tuple[int, ...], float] = {}
        self.best: float | None = None

    def score(self, reply: tuple[int, ...]) -> float:
        """The log-probability of a reply, or the bound at which it was given up."""
        done = 0
        while done < len(reply) and reply[: done + 1] in self.known:
            done += 1
        total = sum(self.known[reply[: place + 1]] for place in range(done))
        if self.margin is not None and not self._is_hopeless(total) and done < len(reply):
            # Where a reply parts from the others is where it loses most.
            total += sum(self._extend(reply, done, done + 1, end=False))
            done += 1
        if self._is_hopeless(total):
            return total
        total += sum(self._extend(reply, done, len(reply), end=self.end))
        self.best = total if self.best is None else max(self.best, total)
        return total

    def _is_hopeless(self, total: float) -> bool:
        return self.margin is not None and self.best is not None and total < self.best - self.margin

    def _extend(self, reply: tuple[int, ...], start: int, stop: int, *, end: bool) -> list[float]:
        before = [*self.prompt, *reply[:start]]
        new = self.engine.forced(self.server, before, reply[start:stop], end, self.usage)
        self.known.update({reply[: start + place + 1]: value for place, value in enumerate(new[: stop - start])})
        return new


class TokenCounts:
    """Tokens of several calls that belong together."""

    def __init__(self) -> None:
        self.prompt = self.cached = self.completion = 0

    def add(self, usage: Mapping[str, Any]) -> None:
        """Adds one call's."""
        self.prompt += int(usage["prompt_tokens"])
        self.cached += int((usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0))
        self.completion += int(usage["completion_tokens"])


def report_usage(name: str, usage: TokenCounts) -> None:
    """Adds the computed tokens to DSPy's count, without those of the prompts in the cache."""
    tracker = dspy.settings.usage_tracker
    if tracker is not None:
        tracker.add_usage(
            name,
            {
                "prompt_tokens": usage.prompt - usage.cached,
                "completion_tokens": usage.completion,
                "total_tokens": usage.prompt - usage.cached + usage.completion,
            },
        )
