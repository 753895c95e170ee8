"""The probabilities that a language model gives to the parts of its reply.

    >>> tokens = [ReplyToken("choice: ", 0.0, {}), ReplyToken("3", -0.3, {"3": -0.3, "1": -1.6})]
    >>> shares_from_tokens(tokens, count=4)
    {3: -0.3, 1: -1.6}

Where a server returns the probabilities of tokens (``logprobs``), they are known; elsewhere a confidence is stated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programs.turns import NoAnswerError

LEAST_SHARE = -9.0
"""The log-probability of what a model gives next to none."""

TOP = 20
"""Alternatives that are asked for in addition to each token; the most that the OpenAI protocol allows."""

_CHOICE = re.compile(r"choice\W{0,12}?(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class ReplyToken:
    """A token of a reply: its text, its log-probability, and those of its alternatives."""

    text: str
    log_probability: float
    alternatives: Mapping[str, float]


def sampling(lm: Any) -> dict[str, Any]:
    """The settings of a call that asks for the probabilities of tokens, where the model gives them."""
    known = "logprobs" in (getattr(lm, "supported_params", None) or ())
    return {"logprobs": True, "top_logprobs": TOP} if known else {}


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


def probability_of(tokens: Sequence[ReplyToken], text: str) -> float | None:
    """The probability in (0, 1] that a model gave to a part of its reply; ``None`` where its tokens do not show it."""
    start = "".join(token.text for token in tokens).find(text) if text else -1
    if start < 0:
        return None
    total, place = 0.0, 0
    for token in tokens:
        if place + len(token.text) > start and place < start + len(text):
            total += token.log_probability
        place += len(token.text)
    return math.exp(min(total, 0.0))


def shares_from_tokens(tokens: Sequence[ReplyToken], count: int) -> dict[int, float]:
    """Returns the log-probabilities of the numbers that a reply could have chosen.

    A number of two digits may be two tokens. The first token's probability is then split with the one-digit number, as
    far as the reply shows. The result is empty where the tokens do not show the place of the choice.
    """
    match = _CHOICE.search("".join(token.text for token in tokens))
    if match is None:
        return {}
    place, start = 0, 0
    while start + len(tokens[place].text) <= match.start(1):
        start += len(tokens[place].text)
        place += 1
    first = tokens[place]
    if not first.text.strip().isdigit():
        return {}
    logs: dict[int, float] = {}
    for text, value in first.alternatives.items():
        if text.strip().isdigit() and int(text) <= count:
            logs[int(text)] = max(value, logs.get(int(text), value))
    digits, text, total = match[1], first.text.strip(), first.log_probability
    if text != digits and int(digits) <= count:
        for token in tokens[place + 1 :]:
            if text == digits:
                break
            text += token.text
            total += token.log_probability
        rest = math.exp(first.log_probability) - math.exp(total)
        logs |= {int(digits): total, int(digits[0]): math.log(rest) if rest > 0 else LEAST_SHARE}
    return logs


def tokens_of(logprobs: Any) -> list[ReplyToken]:
    """A reply's tokens, from what a provider's client or the embedded engine returns; empty where there is nothing."""

    def value(holder: Any, name: str) -> Any:
        return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)

    content = value(logprobs, "content")
    tokens = []
    for entry in content if content is not None else logprobs if isinstance(logprobs, Sequence) else ():
        others = value(entry, "top_logprobs")
        others = others if others is not None else value(entry, "top")
        alternatives: dict[str, float] = {}
        for other in others if others is not None else ():
            text = str(value(other, "token"))
            alternatives[text] = max(float(value(other, "logprob")), alternatives.get(text, -math.inf))
        tokens.append(ReplyToken(str(value(entry, "token")), float(value(entry, "logprob")), alternatives))
    return tokens
