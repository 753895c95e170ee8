r"""Readings of the documents nearest to a question by a language model, held to their sentences.

A model of an API sees numbered sentences and cites (:class:`signatures.news.UnderstandTexts`):

>>> cited(reply, near, own).values, cited(reply, near, own).steps
(('$40 million',), '$340 million - $300 million = $40 million')

An embedded model with the adapter for news quotes. Its reply is held by a grammar to spans of the documents, ``yes``,
``no`` or ``none``; there is one rule a word, so the grammar grows with the text and not with its square:

>>> print(reply_grammar(["Orvane paid $340 million."]))
root ::= "none" | "yes" | "no" | span ("; " span){0,7}
span ::= w0 | w1 | w2 | w3
w0 ::= "Orvane" (" " w1)?
...

An answer counts only if a sentence has it; yes and no need a sentence that is cited. Calculations are done here. The
confidence is a logistic function of what the model gives and of what the span reader reads (``confidence.json``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import dspy
from dspy import lm15

from kg.errors import LMError
from kg.news import (
    POLAR,
    AnswerConfidence,
    NearDocument,
    Passage,
    TextAnswer,
    compared,
    days_in,
    number_of,
    span_confidence,
    value_of,
)
from kg.text import WEEKDAYS, tokens
from programs.lm import GBNF, quoted
from programs.worlds.news.calculations import calculate

ADAPTER, API, CITED = "news", "api", "cited"
"""The name of the adapters that were trained to quote, and of the confidence in a model of an API and its sentences."""

SHOWN = {API: (8, 0.4), ADAPTER: (3, 0.4)}
"""Documents that are shown at the most, and how near they must be as a share of the nearest one."""

NONE, BETWEEN, MOST_QUOTES = "none", "; ", 8
"""The reply where the documents have no answer, what is between several quotes, and the most of them."""

INSTRUCTIONS = (
    "Answer the question from the news. Quote the answer alone, as short as it can be, with ';' between several. "
    f"Reply yes or no where that is asked, and {NONE} where the news does not tell."
)

_LONGEST, _ALTERNATIVES = 64, 20
"""Tokens of a reply, and the most probable tokens of each place."""

_LEAST, _MOST_LEAD, _DECIDED = -10.0, 6.0, 2
"""The least logarithm of a probability, the most of a lead, and the first tokens, by which a span is chosen."""

_WORD = re.compile(r"(?:[A-Z]{0,3}[$€£¥])?\d+(?:[.,]\d+)*%?|[^\W_]+")
_GAP = re.compile(r"[^\n|;\"“”]{0,6}")
"""The characters between two words of a span."""

_AMOUNT = re.compile(
    r"(?:[A-Z]{0,3}[$€£¥] ?)?\d+(?:[,.]\d+)*(?:%|[- ]?(?:per ?cent|thousand|million|billion|trillion|bn|m)\b)?"
    r"(?: [^\W\d_]+)?"
)
_ISO_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
_MARKS = "\"“”'’."


@cache
def confidence_models() -> Mapping[str, AnswerConfidence]:
    """Returns the fitted confidence in each model with an adapter, and in models of an API."""
    content = json.loads(Path(__file__).with_name("confidence.json").read_text(encoding="utf-8"))
    return {name: AnswerConfidence.model_validate(one) for name, one in content.items()}


def quoting_model(lm: dspy.LM) -> dspy.LM | None:
    """Returns an embedded language model with its adapter for news; ``None`` if there is none."""
    name = str(lm.model)
    if name in confidence_models():
        return lm
    wanted = f"{name}+{ADAPTER}"
    if wanted not in confidence_models():
        return None
    with suppress(LMError):
        return lm.copy(model=wanted)
    return None


def by_day(near: Sequence[NearDocument]) -> list[NearDocument]:
    """Returns documents with the oldest first."""
    return sorted(near, key=lambda document: (document.published, document.name))


def numbered(near: Sequence[NearDocument]) -> str:
    """Returns documents as a model of an API sees them, the oldest first: the day, and sentences with numbers."""
    parts, number = list[str](), 0
    for document in by_day(near):
        lines = [f"{document.published} ({WEEKDAYS[document.published.weekday()]})"]
        for passage in document.shown:
            number += 1
            lines.append(f"[{number}] {passage.text}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def cited(reply: Any, near: Sequence[NearDocument], own: TextAnswer) -> TextAnswer:
    """Returns the answer of a model that saw numbered sentences, with those that have it.

    Args:
        reply: Its reply.
        near: The documents.
        own: What the span reader would answer.

    Raises:
        ValueError: A sentence lacks an answer or a part of the calculation, or the span reader objects.
    """
    shown = [passage for document in by_day(near) for passage in document.shown]
    values = [text for one in reply.answers or () if (text := str(one).strip().strip(_MARKS))]
    written = (reply.calculation or "").strip()
    sources = [shown[one - 1] for one in dict.fromkeys(reply.sentences or ()) if 0 < one <= len(shown)]
    answer = _calculated(written, values, sources, shown) if written else _values(values, sources, shown)
    _check(answer, near, own)
    features = {
        "likely": float(reply.sureness == "likely"),
        "unsure": float(reply.sureness == "unsure"),
        "calculated": float(bool(answer.steps)),
        "uncited": float(not set(answer.passages) <= set(sources)),
        **_own_features(answer.values, own),
    }
    return TextAnswer(answer.values, answer.passages, why=answer.why, steps=answer.steps, features=features)


def _check(answer: TextAnswer, near: Sequence[NearDocument], own: TextAnswer) -> None:
    """Raises ValueError for an answer that a text probably planted in the model, whatever the question."""
    model = confidence_models()[CITED]
    is_read = answer.values and own.shares and not answer.steps
    if is_read and model.confidence(_plausibility(answer, near, own)) < model.threshold:
        raise ValueError(f"{'; '.join(answer.values)!r} seems no answer; {own.values[0]!r} would be read")


def _plausibility(answer: TextAnswer, near: Sequence[NearDocument], own: TextAnswer) -> dict[str, float]:
    """Returns the features of an answer with its sentences, by the span reader and by the sentences' similarity."""
    values = set(map(compared, answer.values))
    polar = sum(own.shares.get(compared(verdict), 0.0) for verdict in POLAR)
    similarity = {one: value for text in near for one, value in zip(text.passages, text.similarities, strict=True)}
    nearest, of_answer = max(similarity.values()), max(similarity[passage] for passage in answer.passages)
    words, read = _words(answer.values), _words(own.values)
    return {
        "read": _odds(max(own.shares.get(value, 0.0) for value in values)),
        "other": _odds(max((share for value, share in own.shares.items() if value not in values), default=0.0)),
        "words": len(words & read) / max(1, min(len(words), len(read))),
        "form": _odds(polar if set(answer.values) <= set(POLAR) else 1 - polar),
        "similarity": of_answer,
        "behind": nearest - of_answer,
    }


def _odds(share: float) -> float:
    return math.log((bounded := min(max(share, 1e-4), 1 - 1e-4)) / (1 - bounded)) / 5


def _words(values: Sequence[str]) -> set[str]:
    words = set(tokens(" ".join(values)))
    return {word for word in words if any(map(str.isdigit, word))} or words


def _own_features(values: Sequence[str], own: TextAnswer) -> dict[str, float]:
    """Returns the features of an answer by the span reader's own."""
    confidence = own.confidence if own.is_confident(span_confidence()) else 0.0
    agrees = set(map(compared, values)) == set(map(compared, own.values))
    return {"agreed": confidence * agrees, "several": float(len(values) > 1)}


def _values(values: Sequence[str], cited: Sequence[Passage], shown: Sequence[Passage]) -> TextAnswer:
    """Returns answers that sentences have.

    Raises:
        ValueError: A sentence lacks one of them, or nothing is cited.
    """
    if not values:
        return TextAnswer(why="the documents do not say so")
    polar = values[0].casefold().rstrip(".")
    if len(values) == 1 and polar in POLAR:
        if not cited:
            raise ValueError(f"no sentence is cited for {polar!r}")
        return TextAnswer((polar,), (cited[0],))
    found = [_located(text, cited, shown) for text in values]
    distinct = {compared(value): (value, passage) for value, passage in reversed(found)}
    kept = [pair for pair in found if distinct.get(compared(pair[0])) == pair]
    return TextAnswer(tuple(value for value, _ in kept), tuple(passage for _, passage in kept))


def _calculated(written: str, values: Sequence[str], cited: Sequence[Passage], shown: Sequence[Passage]) -> TextAnswer:
    """Returns the result of a calculation with the sentences of its parts, after other answers that sentences have.

    Raises:
        ValueError: It is no calculation, or a sentence lacks a part.
    """
    used: list[Passage] = []

    def lookup(text: str) -> str:
        value, passage = _located(text, cited, shown)
        used.append(passage)
        return value

    value, others = calculate(written, lookup), list[str]()
    for text in values:
        with suppress(ValueError):
            others += [lookup(text)] if compared(text) != compared(value) else []
    return TextAnswer((*others, value), tuple(dict.fromkeys(used)), steps=f"{written} = {value}")


def _located(text: str, cited: Sequence[Passage], shown: Sequence[Passage]) -> tuple[str, Passage]:
    """Returns a text as a sentence has it, and the sentence: one that is cited, or else any that is shown.

    Raises:
        ValueError: No sentence has it, nor the same day or amount.
    """
    for form in (spelled, equal):
        for passage in (*cited, *shown):
            if value := form(passage, text):
                return value, passage
    raise ValueError(f"no sentence has {text!r}")


def spelled(passage: Passage, text: str) -> str:
    """Returns a text as a sentence has it, whatever its case, quotes and dashes, a day in the form of ISO; or ""."""
    match = _pattern(text).search(passage.text)
    return value_of(match[0], passage.published) if match is not None else ""


@lru_cache(maxsize=1000)
def _pattern(text: str) -> re.Pattern[str]:
    parts = [r"\s+" if one.isspace() else _ALIKE.get(one, re.escape(one)) for one in re.sub(r"\s+", " ", text)]
    return re.compile(rf"(?<!\w){''.join(parts)}(?!\w)", re.IGNORECASE)


_ALIKE = {mark: f"[{marks}]" for marks in ("'’‘", '"“”', "-–—−‑") for mark in marks}


def equal(passage: Passage, text: str) -> str:
    """Returns a day or an amount of a sentence that equals a text; empty if there is none."""
    if _ISO_DAY.fullmatch(text):
        days = [day for _, _, day in days_in(passage.text, passage.published)]
        return next((day for day in (*days, passage.published.isoformat()) if day.startswith(text)), "")
    number = number_of(text) if not text[:2].isalpha() else None
    amounts = (match[0] for match in _AMOUNT.finditer(passage.text))
    return next((amount for amount in amounts if number is not None and number_of(amount) == number), "")


def quote_messages(documents: Sequence[Sequence[Passage]], question: str) -> list[dict[str, str]]:
    """Returns the messages of a question for the adapter, which was trained on them.

    Args:
        documents: The sentences of each document that are shown, the headline first.
        question: The question.
    """
    ordered = sorted(documents, key=lambda one: (one[0].published, one[0].text))
    texts = (f"{one[0].published} {one[0].text}\n{' '.join(each.text for each in one[1:])}" for one in ordered)
    shown = "\n\n".join(texts)
    return [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": f"{shown}\n\nquestion: {question}"},
    ]


@dataclass(frozen=True)
class QuoteReply:
    """A reply of the adapter.

    Attributes:
        text: The reply.
        lead: The least logarithm of how many times more probable one of its first tokens is than any other one there.
    """

    text: str
    lead: float


def quote(lm: dspy.LM, question: str, near: Sequence[NearDocument]) -> QuoteReply:
    """Returns what a model with the adapter replies, held to spans of the documents.

    Raises:
        LMError: The model cannot be asked.
    """
    documents = [document.shown for document in near]
    grammar = reply_grammar([passage.text for document in documents for passage in document])
    system, user = (message["content"] for message in quote_messages(documents, question))
    form = {"type": "json_schema", "name": GBNF, "schema": {"grammar": grammar}}
    config = lm15.Config(max_tokens=_LONGEST, temperature=0.0, logprobs=_ALTERNATIVES, response_format=form)
    reply = lm(lm15.Request(model=lm.model, system=system, messages=(lm15.Message.user(user),), config=config))
    leads = [
        one.logprob - max((other.logprob for other in one.top if other.token != one.token), default=_LEAST)
        for one in (reply.logprobs or ())[:_DECIDED]
    ]
    lead = min((_MOST_LEAD, *leads)) if leads else -_MOST_LEAD
    return QuoteReply((reply.text or "").strip(), max(lead, -_MOST_LEAD))


def quotation(reply: QuoteReply, near: Sequence[NearDocument], own: TextAnswer) -> TextAnswer:
    """Returns the answer of a model that quotes, with the sentences that have it nearest to the question.

    Args:
        reply: Its reply.
        near: The documents.
        own: What the span reader would answer.
    """
    scored = [pair for one in near for pair in zip(one.similarities, one.passages, strict=True)]
    ranked = [passage for _, passage in sorted(scored, key=lambda pair: -pair[0])]
    places: list[tuple[str, Passage]] = []
    quotes = [] if reply.text == NONE else list(dict.fromkeys(map(str.strip, reply.text.split(BETWEEN.strip()))))
    for text in quotes:
        found = next((one for one in ranked if text in POLAR or text.lower() in one.text.lower()), None)
        if found is None:
            return TextAnswer(why=f"no sentence has {text!r}")
        places.append((text, found))
    if not places:
        return TextAnswer(why="the documents do not say so")
    values = tuple(text if text in POLAR else value_of(text, one.published) for text, one in places)
    features = {
        "lead": reply.lead / 5,
        "agreed": float(set(map(compared, values)) == set(map(compared, own.values))),
        "several": float(len(values) > 1),
    }
    return TextAnswer(values, tuple(passage for _, passage in places), features=features)


def reply_grammar(sentences: Sequence[str]) -> str:
    """Returns the grammar of a reply: spans of the sentences, yes, no, or none."""
    words = dict(_span_rules(sentences))
    rules = {
        "root": " | ".join([*map(quoted, (NONE, *POLAR)), f"span ({quoted(BETWEEN)} span){{0,{MOST_QUOTES - 1}}}"]),
        "span": " | ".join(words) or quoted(NONE),
        **words,
    }
    return "\n".join(f"{name} ::= {body}" for name, body in rules.items())


def _span_rules(sentences: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields one rule for each word: it, and perhaps the next one."""
    number = 0
    for text in sentences:
        words = list(_WORD.finditer(text))
        for place, word in enumerate(words):
            number += 1
            follows = words[place + 1] if place + 1 < len(words) else None
            gap = text[word.end() : follows.start()] if follows is not None else ""
            following = f"{quoted(gap)} w{number}" if gap else f"w{number}"
            more = f" ({following})?" if follows is not None and _GAP.fullmatch(gap) else ""
            yield f"w{number - 1}", f"{quoted(word[0])}{more}"
