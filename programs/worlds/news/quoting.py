r"""Quotations of a model that was fine-tuned on news: it reads the nearest documents together and quotes the answer.

>>> document = ShownDocument("Orvane buys Brightlane", date(2026, 1, 14), ("Orvane paid $340 million.",))
>>> print(quote_messages([document], "What did Brightlane cost?")[1]["content"])
2026-01-14 Orvane buys Brightlane
Orvane paid $340 million.
<BLANKLINE>
question: What did Brightlane cost?

The reply is held by a grammar (GBNF) to spans of the documents, ``yes``, ``no`` or ``none``:

>>> print(reply_grammar(["Orvane paid $340 million."], "none"))
root ::= "none" | span
span ::= w0 | w1 | w2 | w3
w0 ::= "Orvane" (" " w1)?
w1 ::= "paid" (" " w2)?
w2 ::= "$340" (" " w3)?
w3 ::= "million"

There is one rule a word, so the grammar grows with the text and not with its square. A fitted model gives the
probability that a reply is right, from its probabilities, the ranking of :mod:`kg.comprehension` and what the rules
answer. ``benchmarks/fit_quotes.py`` trains on the same messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

import dspy
from dspy import lm15

from kg.comprehension import Asked, ClauseAnswers, Ranked
from kg.errors import LMError
from kg.sentences import plain_name
from programs.lm import GBNF, quoted
from programs.worlds.news.documents import Located, NearDocument
from programs.worlds.news.readings import PassageAnswer, ReadAnswer, ReadingModel, value_features

ADAPTER = "news"
"""The name of the adapters that were trained on this prompt."""

NONE = "none"
"""The reply where the documents have no answer."""

POLAR = ("yes", "no")
BETWEEN = "; "
"""The separator of several quotes of a reply."""

INSTRUCTIONS = (
    "Answer the question from the news. Quote the answer alone, as short as it can be, with ';' between several. "
    f"Reply yes or no where that is asked, and {NONE} where the news does not tell."
)


@dataclass(frozen=True)
class ShownDocument:
    """A document as it is shown.

    Attributes:
        headline: Its headline.
        day: Its day.
        sentences: The sentences that are shown.
    """

    headline: str
    day: date
    sentences: tuple[str, ...]


def quote_messages(documents: Sequence[ShownDocument], question: str) -> list[dict[str, str]]:
    """Returns the messages of a question about documents, the oldest first.

    Args:
        documents: The documents.
        question: The question.
    """
    ordered = sorted(documents, key=lambda one: (one.day, one.headline))
    shown = "\n\n".join(f"{one.day} {one.headline}\n{' '.join(one.sentences)}" for one in ordered)
    return [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": f"{shown}\n\nquestion: {question}"},
    ]


def quote_reply(answers: Sequence[str]) -> str:
    """Returns the reply that gives some answers; none where there is no answer."""
    return BETWEEN.join(answers) or NONE


LONGEST = 64
"""Tokens of a reply at the most."""

MOST_QUOTES = 8
"""Quotes of a reply at the most."""

_LEAST_LIKELIHOOD = -8.0

QUOTE_FEATURES = (
    "likelihood", "weakest", "none", "similarity", "words", "sentence", "ranked", "ranked other", "agreed", "against",
    "several", "polar", "kind", "unknown", "read", "read other", "read none",
)  # fmt: skip
"""The features of the confidence in a reply."""


@cache
def quote_models() -> dict[str, ReadingModel]:
    """Returns the fitted confidence of each model that has an adapter; ``benchmarks/fit_passages.py`` fits them."""
    path = Path(__file__).with_name("quotes.json")
    given = json.loads(path.read_text(encoding="utf-8"))
    return {name: ReadingModel.model_validate(one) for name, one in given.items()}


def quoting_model(lm: dspy.LM) -> dspy.LM | None:
    """Returns a language model with its adapter for news; ``None`` if there is none.

    Args:
        lm: The language model, with or without its adapter.
    """
    name = str(lm.model)
    if name in quote_models():
        return lm
    wanted = f"{name}+{ADAPTER}"
    if wanted not in quote_models():
        return None
    try:
        return lm.copy(model=wanted)
    except LMError:
        return None


def quotation(
    clauses: ClauseAnswers,
    asked: Asked,
    documents: Sequence[NearDocument],
    reply: HeldReply,
    known: Sequence[str],
    confidence: float,
) -> ReadAnswer | None:
    """Returns what the model quotes; ``None`` if the documents have no answer.

    Args:
        clauses: The sentences and their ranking.
        asked: The question.
        documents: The documents, the nearest first.
        reply: The model's reply.
        known: What the rules answer.
        confidence: Their confidence.
    """
    places = _places(documents, reply.text)
    if not places:
        return None
    values = tuple(dict.fromkeys(one.value for one in places))
    own, rules = set(map(plain_name, values)), set(map(plain_name, known))
    holding = [one for one in documents if any(at.passage.document == one.text.name for at in places)]
    ranked = clauses.ranked(asked)
    features = {
        **value_features(asked, values, places, ranked),
        **_read(clauses, asked, values, ranked),
        "likelihood": max(reply.likelihood, _LEAST_LIKELIHOOD),
        "weakest": max(reply.weakest, _LEAST_LIKELIHOOD),
        "none": max(reply.none, LEAST) / 5,
        "similarity": max(one.similarity for one in holding) - max(one.similarity for one in documents),
        "words": max(one.words for one in holding),
        "sentence": min(place.similarity for place in places),
        "agreed": confidence if own == rules else 0.0,
        "against": confidence if rules and own != rules else 0.0,
        "polar": float(values[0] in POLAR),
    }
    return ReadAnswer(PassageAnswer(values, 0.0, tuple(place.passage for place in places)), features)


def _read(clauses: ClauseAnswers, asked: Asked, values: Sequence[str], ranked: Sequence[Ranked]) -> dict[str, float]:
    """Returns the shares that the reader of :mod:`kg.comprehension` gives the values, another one, and no answer.

    A value that has the words of another is not another one: "at least $85 million".
    """
    if values[0] in POLAR:
        proposal = clauses.proposed(asked, ranked)
        share, none = (proposal.features.get(name, 0.0) for name in ("polar read", "polar none"))
        agrees = proposal.values == tuple(values)
        return {"read": share * agrees, "read other": share * (not agrees), "read none": none}
    shares: dict[str, float] = {}
    for one in ranked:
        total = sum(candidate.features.get("reader mass", 0.0) for candidate in one.candidates)
        shares[plain_name(one.value)] = min(shares.get(plain_name(one.value), 0.0) + total, 1.0)
    own = {plain_name(value) for value in values}
    others = [value for value in shares if not any(one in value or value in one for one in own)]
    none = ranked[0].candidates[0].features.get("reader none", 0.0) if ranked else 0.0
    return {
        "read": min(shares.get(value, 0.0) for value in own),
        "read other": max((shares[value] for value in others), default=0.0),
        "read none": none,
    }


def quote(lm: dspy.LM, asked: Asked, documents: Sequence[NearDocument]) -> HeldReply:
    """Returns what a model with the adapter replies.

    Raises:
        LMError: The model cannot be asked.
    """
    [_, user] = asked_messages(asked, documents)
    sentences = [sentence for one in documents for sentence in one.sentences]
    grammar = reply_grammar(sentences, NONE, *POLAR, between=BETWEEN, most=MOST_QUOTES)
    return held_reply(lm, INSTRUCTIONS, [lm15.Message.user(user["content"])], grammar, NONE, LONGEST)


def asked_messages(asked: Asked, documents: Sequence[NearDocument]) -> list[dict[str, str]]:
    """Returns the messages of a question about the documents nearest to it."""
    shown = [ShownDocument(one.sentences[0], one.text.published, one.sentences[1:]) for one in documents]
    return quote_messages(shown, asked.text)


def _places(documents: Sequence[NearDocument], reply: str) -> list[Located]:
    """Returns where the documents have each quote of a reply; none where they lack one, or where it is "none"."""
    if reply in POLAR:
        nearest = max(documents, key=lambda one: one.similarity)
        place = nearest.similarities.index(nearest.similarity)
        return [Located(reply, "", nearest.text.statements[place].passage, nearest.similarity)]
    quotes = [part.strip() for part in reply.split(BETWEEN.strip()) if part.strip()]
    found = [_nearest(documents, quote) for quote in dict.fromkeys(quotes)] if reply != NONE else []
    return [one for one in found if one is not None] if all(found) else []


def _nearest(documents: Sequence[NearDocument], quote: str) -> Located | None:
    """Returns the nearest place of a quote in any of the documents."""
    places = [place for document in documents if (place := document.located(quote)) is not None]
    return max(places, key=lambda one: one.similarity, default=None)


MOST_LISTED = 4
"""Spans of a reply that lists several."""

ALTERNATIVES = 20
"""Most probable first tokens of a reply among which that of no answer is looked for."""

LEAST = -10.0
"""The least logarithm of a probability that is distinguished."""

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
        otherwise: The texts that are no spans, such as the one of no answer.
        between: What is between the spans of a reply that lists several; by default it has one alone.
        most: The most spans of such a reply.
    """
    listed = f"span ({quoted(between)} span){{0,{most - 1}}}" if between is not None else "span"
    rules = {"root": " | ".join([*map(quoted, otherwise), listed]), **span_rules(sentences)}
    return "\n".join(f"{name} ::= {body}" for name, body in rules.items())
