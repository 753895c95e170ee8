"""The confidence of a language model in its reply: the probability of the reply's tokens, or a stated one.

    >>> probability_of([("calculation: ", 0.0), ("[r1c1]", -0.3)], "[r1c1]")
    0.74

Where a server returns the probabilities of tokens (``logprobs``), they are known; elsewhere a confidence is stated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from programs.turns import NoAnswerError

LEAST_SHARE = -9.0
"""The log-probability of what a model gives next to none."""


def sampling(lm: Any) -> dict[str, Any]:
    """The settings of a call that asks for the probabilities of tokens, where the model gives them."""
    known = "logprobs" in (getattr(lm, "supported_params", None) or ())
    return {"logprobs": True} if known else {}


def stated(confidence: float) -> float:
    """A stated confidence as a probability in [0, 1]; a number above 1 is one of 100.

    Models answer 0 to 1 and 0 to 100 to either prompt. A 1 is read as certain, as 1 of 100 is next to never stated.

    Raises:
        NoAnswerError: It is not a number.
    """
    value = float(confidence)
    if math.isnan(value):
        raise NoAnswerError("no_valid_choice", "the model gave its confidence as nan, which is not a number")
    return min(max(value / 100 if value > 1 else value, 0.0), 1.0)


def probability_of(tokens: Sequence[tuple[str, float]], text: str) -> float | None:
    """The probability in (0, 1] that a model gave to a part of its reply; ``None`` where its tokens do not show it."""
    start = "".join(token for token, _ in tokens).find(text) if text else -1
    if start < 0:
        return None
    total, place = 0.0, 0
    for token, log_probability in tokens:
        if place + len(token) > start and place < start + len(text):
            total += log_probability
        place += len(token)
    return math.exp(min(total, 0.0))


def tokens_of(logprobs: Any) -> list[tuple[str, float]]:
    """A reply's tokens with their log-probabilities, from a provider's client or the embedded engine; else none."""

    def value(holder: Any, name: str) -> Any:
        return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)

    content = value(logprobs, "content")
    entries = content if content is not None else logprobs if isinstance(logprobs, Sequence) else ()
    return [(str(value(entry, "token")), float(value(entry, "logprob"))) for entry in entries]
