r"""Spans of sentences as a grammar (GBNF), and the replies of a model that is held to it.

Such a model quotes, and writes nothing else:

>>> print(reply_grammar(["Orvane paid $340 million."], "not stated"))
root ::= "not stated" | span
span ::= w0 | w1 | w2 | w3
w0 ::= "Orvane" (" " w1)?
w1 ::= "paid" (" " w2)?
w2 ::= "$340" (" " w3)?
w3 ::= "million"

There is one rule a word, so the grammar grows with the text and not with its square.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import dspy
from dspy import lm15

from programs.lm import GBNF, quoted

MOST_LISTED = 4
"""Spans of a reply that lists several."""

ALTERNATIVES = 20
"""Most probable first tokens of a reply among which that of no answer is looked for."""

LEAST = -10.0
"""The least logarithm of a probability that is told apart."""

_WORD = re.compile(r"(?:[A-Z]{0,3}[$€£¥])?\d+(?:[.,]\d+)*%?|[^\W_]+")
_BETWEEN = re.compile(r"[^\n|;\"“”]{0,6}")
"""The characters between two words of a span."""


@dataclass(frozen=True)
class HeldReply:
    """A reply that was held to a grammar.

    Attributes:
        text: The reply.
        likelihood: The logarithm of its probability.
        weakest: The logarithm of the probability of its least probable token.
        none: The logarithm of the probability that it begins as the reply of no answer does.
    """

    text: str
    likelihood: float
    weakest: float
    none: float


def held_reply(
    lm: dspy.LM, system: str, messages: Sequence[lm15.Message], grammar: str, none: str, longest: int
) -> HeldReply:
    """Returns what an embedded model replies.

    Args:
        lm: The model.
        system: Its instructions.
        messages: The messages, the last one of the user.
        grammar: The grammar of the reply.
        none: The reply of no answer.
        longest: The most tokens of the reply.

    Raises:
        LMError: The model cannot be asked.
    """
    held = {"type": "json_schema", "name": GBNF, "schema": {"grammar": grammar}}
    config = lm15.Config(max_tokens=longest, temperature=0.0, logprobs=ALTERNATIVES, response_format=held)
    reply = lm(lm15.Request(model=lm.model, system=system, messages=tuple(messages), config=config))
    tokens = reply.logprobs or ()
    first = {one.token.strip(): one.logprob for one in reversed(tokens[0].top if tokens else ())}
    begins = [value for token, value in first.items() if token and none.startswith(token)]
    probable = [one.logprob for one in tokens]
    return HeldReply(
        (reply.text or "").strip(), sum(probable), min(probable, default=LEAST), max(begins, default=LEAST)
    )


def span_rules(sentences: Sequence[str]) -> dict[str, str]:
    """Returns the rules of all spans inside one of some sentences; ``span`` is any of them.

    Args:
        sentences: The sentences.
    """
    rules: dict[str, str] = {}
    for text in sentences:
        words = list(_WORD.finditer(text))
        for place, word in enumerate(words):
            follows = words[place + 1] if place + 1 < len(words) else None
            between = text[word.end() : follows.start()] if follows is not None else ""
            name, after = f"w{len(rules)}", f"w{len(rules) + 1}"
            joined = f"{quoted(between)} {after}" if between else after
            more = f" ({joined})?" if follows is not None and _BETWEEN.fullmatch(between) else ""
            rules[name] = f"{quoted(word[0])}{more}"
    return {"span": " | ".join(rules) or '"none"', **rules}


def reply_grammar(
    sentences: Sequence[str], *otherwise: str, between: str | None = None, most: int = MOST_LISTED
) -> str:
    """Returns the grammar of a reply: a span of the sentences, or a text of another kind.

    Args:
        sentences: The sentences.
        otherwise: The texts that are no spans, such as the one that says that none answers.
        between: What is between the spans of a reply that lists several; by default it has one alone.
        most: The most spans of such a reply.
    """
    listed = f"span ({quoted(between)} span){{0,{most - 1}}}" if between is not None else "span"
    rules = {"root": " | ".join([*map(quoted, otherwise), listed]), **span_rules(sentences)}
    return "\n".join(f"{name} ::= {body}" for name, body in rules.items())
