r"""Spans of sentences as a grammar (GBNF): a model that is held to it quotes, and writes nothing else.

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

from programs.lm import quoted

MOST_LISTED = 4
"""Spans of a reply that lists several."""

_WORD = re.compile(r"(?:[A-Z]{0,3}[$€£¥])?\d+(?:[.,]\d+)*%?|[^\W_]+")
_BETWEEN = re.compile(r"[^\n|;\"“”]{0,6}")
"""The characters between two words of a span."""


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
