"""Evidence by index: the model sees all candidates as numbered lines and answers with a number, or 0 for none.

One call over all candidates, for models that can read a list. Where the model gives the probabilities of its tokens
(``logprobs``), those of all numbers are the evidence. Elsewhere the number in its reply is the evidence, with its
stated confidence::

    >>> shares_from_tokens([ReplyToken("3", -0.3, {"3": -0.3, "1": -1.6, "0": -3.0})], count=4)
    {3: -0.3, 1: -1.6, 0: -3.0}
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programs.evidence.blend import Evidence
from programs.turns import NoAnswerError

TOP = 20
"""Alternatives that are asked for in addition to each token; the most that the OpenAI protocol allows."""

_CHOICE = re.compile(r"choice\W{0,12}?(\d+)", re.IGNORECASE)
_LEAST = -9.0


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


def evidence_of(reply: Any, count: int) -> Evidence:
    """The evidence of a reply.

    Args:
        reply: A prediction with ``choice``, ``confidence`` and, where the model gives them, ``logprobs``.
        count: The number of shown candidates.

    Raises:
        NoAnswerError: It has no probabilities and states none that is a number.
    """
    logs = [max(math.log(value), _LEAST) if value > 0 else _LEAST for value in _probabilities(reply, count)]
    return Evidence("index", tuple(logs[1:]), none=logs[0])


def _probabilities(reply: Any, count: int) -> list[float]:
    """Of 0 and of each candidate."""
    tokens = tokens_of(getattr(reply, "logprobs", None))
    found = shares_from_tokens(tokens, count) if tokens else {}
    if not found:
        confidence = stated(reply.confidence)
        # The rest is not assigned: a stated confidence gives no probability of the others.
        return [confidence if place == int(reply.choice) else (1.0 - confidence) / count for place in range(count + 1)]
    total = sum(math.exp(value) for value in found.values())
    rest = max(1.0 - total, 0.0) / (count + 1)
    return [(math.exp(found[place]) if place in found else 0.0) + rest for place in range(count + 1)]


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
    far as the reply shows.

    Args:
        tokens: The reply's.
        count: The highest number that is a choice.

    Returns:
        Empty where the tokens do not show the place of the choice.
    """
    match = _CHOICE.search("".join(token.text for token in tokens))
    place = _place_of(tokens, match.start(1)) if match is not None else None
    if match is None or place is None:
        return {}
    found: dict[int, float] = {}
    for text, value in tokens[place].alternatives.items():
        if text.strip().isdigit() and int(text) <= count:
            found[int(text)] = max(value, found.get(int(text), value))
    said = int(match[1])
    if said <= count and tokens[place].text.strip() != match[1]:
        found[said] = tokens[place].log_probability + _later(tokens, place, match[1])
        first = int(match[1][0])
        rest = math.exp(tokens[place].log_probability) - math.exp(found[said])
        found[first] = math.log(rest) if rest > 0 else _LEAST
    return found


def _later(tokens: Sequence[ReplyToken], place: int, digits: str) -> float:
    """Returns the log-probability of the digits after the first token."""
    total, text = 0.0, tokens[place].text.strip()
    for token in tokens[place + 1 :]:
        if text == digits:
            break
        text += token.text
        total += token.log_probability
    return total


def _place_of(tokens: Sequence[ReplyToken], character: int) -> int | None:
    """The token that holds a character of the reply; ``None`` where it holds more than a number."""
    start = 0
    for place, token in enumerate(tokens):
        if start <= character < start + len(token.text):
            return place if token.text.strip().isdigit() else None
        start += len(token.text)
    return None


def tokens_of(logprobs: Any) -> list[ReplyToken]:
    """A reply's tokens, from what a provider's client or the embedded engine returns; empty where there is nothing."""
    content = _get(logprobs, "content") if logprobs is not None else None
    if content is None:
        content = logprobs if isinstance(logprobs, Sequence) else []
    found = []
    for entry in content:
        others = _get(entry, "top_logprobs")
        others = others if others is not None else _get(entry, "top")
        alternatives: dict[str, float] = {}
        for other in others if others is not None else ():
            text = str(_get(other, "token"))
            alternatives[text] = max(float(_get(other, "logprob")), alternatives.get(text, -math.inf))
        found.append(ReplyToken(str(_get(entry, "token")), float(_get(entry, "logprob")), alternatives))
    return found


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
