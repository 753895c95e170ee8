r"""Answers of a language model that cites: it reads the nearest documents together, as numbered sentences.

>>> cited(reply, near(clauses, "By how much did Orvane raise its offer?"), (), 0.0).answer
PassageAnswer(values=("$40 million",), passages=(...), steps="$340 million - $300 million")

An answer counts only if a sentence has it; yes and no need a sentence that is cited. A calculation is done here, with
the amounts and days of sentences. Its confidence is a logistic function of the confidence that the model states and of
what the rules answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from kg.clauses import ParsedSentence
from kg.comprehension import Asked, ClauseAnswers
from kg.news import number_of
from kg.sentences import plain_name
from programs.worlds.news.calculations import calculate
from programs.worlds.news.documents import NearDocument, day_shown, near_documents, value_of
from programs.worlds.news.quoting import POLAR
from programs.worlds.news.readings import PassageAnswer, ReadingModel

MOST, LEAST_SHARE = 5, 0.5
"""Documents that are shown, and how near they must be as a share of the nearest one."""

MOST_COMPARED, LEAST_COMPARED = 12, 0.3
"""The same for questions that compare or list, whose answers may be in many documents."""

CITED_FEATURES = ("likely", "unsure", "agreed", "against", "polar", "calculated", "several", "uncited", "unknown")
"""The features of the confidence in a reply."""


_MARKS = "\"“”'’."


@cache
def citing_model() -> ReadingModel:
    """Returns the confidence that ships: set by hand, as replies about development questions were too seldom wrong."""
    path = Path(__file__).with_name("citing.json")
    return ReadingModel.model_validate_json(path.read_text(encoding="utf-8"))


Near = tuple[Asked, list[NearDocument]]
"""A question and the documents nearest to it."""


@dataclass(frozen=True)
class Cited:
    """A reply, held to the sentences.

    Attributes:
        answer: The values with their sentences, without a confidence; none with the reason.
        features: Those of :data:`CITED_FEATURES`.
    """

    answer: PassageAnswer
    features: dict[str, float]


@dataclass(frozen=True)
class Found:
    """A span in a sentence: its value as an answer, and the sentence."""

    value: str
    statement: ParsedSentence


def near(clauses: ClauseAnswers, question: str) -> Near:
    """Returns the parsed question and the documents nearest to it; threads must not call it at the same time."""
    asked = clauses.parse(question)
    compares = asked.plural or bool(asked.words.extreme)
    limits = (MOST_COMPARED, LEAST_COMPARED) if compares else (MOST, LEAST_SHARE)
    return asked, near_documents(asked, clauses.library, *limits)


def cited(reply: Any, found: Near, known: Sequence[str], confidence: float) -> Cited:
    """Returns the answer of a model about documents, with its sentences.

    Args:
        reply: Its reply.
        found: The question and the documents.
        known: What the rules answer.
        confidence: Their confidence.

    Raises:
        ValueError: A sentence lacks an answer or a part of the calculation.
    """
    asked, documents = found
    statements = list(_ordered(documents))
    answers = [text for one in reply.answers or () if (text := str(one).strip().strip(_MARKS))]
    written = (reply.calculation or "").strip()
    sources = [statements[one - 1] for one in dict.fromkeys(reply.sentences or ()) if 0 < one <= len(statements)]
    answer = _calculated(written, sources, statements) if written else _held(answers, sources, statements)
    own, rules = set(map(plain_name, answer.values)), set(map(plain_name, known))
    features = {
        "likely": float(reply.sureness == "likely"),
        "unsure": float(reply.sureness == "unsure"),
        "agreed": confidence if own == rules else 0.0,
        "against": confidence if rules and own != rules else 0.0,
        "polar": float(answer.values[:1] in (("yes",), ("no",))),
        "calculated": float(bool(answer.steps)),
        "several": float(len(answer.values) > 1),
        "uncited": float(not set(answer.passages) <= {one.passage for one in sources}),
        "unknown": float(bool(asked.unknown)),
    }
    return Cited(answer, features)


def shown(documents: Sequence[NearDocument]) -> str:
    """Returns documents as they are shown, the oldest first: the day, and the sentences with their numbers."""
    parts: list[str] = []
    number = 0
    for document in _by_day(documents):
        lines = [day_shown(document.text.published)]
        for statement in document.statements:
            number += 1
            lines.append(f"[{number}] {statement.passage.text}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _by_day(documents: Iterable[NearDocument]) -> list[NearDocument]:
    return sorted(documents, key=lambda one: (one.text.published, one.text.name))


def _ordered(documents: Iterable[NearDocument]) -> Iterator[ParsedSentence]:
    """Yields the sentences in the order of their numbers."""
    for document in _by_day(documents):
        yield from document.statements


def _held(
    answers: Sequence[str], cited: Sequence[ParsedSentence], statements: Sequence[ParsedSentence]
) -> PassageAnswer:
    """Returns answers that sentences have.

    Raises:
        ValueError: A sentence lacks one of them, or nothing is cited.
    """
    if not answers:
        return PassageAnswer(why="the documents do not say so")
    polar = answers[0].casefold().rstrip(".")
    if len(answers) == 1 and polar in POLAR:
        if not cited:
            raise ValueError(f"no sentence is cited for {polar!r}")
        return PassageAnswer((polar,), passages=(cited[0].passage,))
    found = [_found(one, cited, statements) for one in answers]
    by_value = {plain_name(one.value): one for one in reversed(found)}
    kept = [one for one in found if by_value[plain_name(one.value)] is one]
    return PassageAnswer(tuple(one.value for one in kept), passages=tuple(one.statement.passage for one in kept))


def _calculated(written: str, cited: Sequence[ParsedSentence], statements: Sequence[ParsedSentence]) -> PassageAnswer:
    """Returns the result of a calculation with the sentences of its parts.

    Raises:
        ValueError: It is no calculation, or a sentence lacks a part.
    """
    used: list[Found] = []

    def lookup(text: str) -> str:
        used.append(_found(text, cited, statements))
        return used[-1].value

    value = calculate(written, lookup)
    passages = tuple(dict.fromkeys(one.statement.passage for one in used))
    return PassageAnswer((value,), passages=passages, steps=f"{written} = {value}")


def _found(text: str, cited: Sequence[ParsedSentence], statements: Sequence[ParsedSentence]) -> Found:
    """Returns where the cited sentences, or else any that are shown, have a text, or the same day or amount.

    Raises:
        ValueError: No sentence has it.
    """
    for of in (_spelled, _equal):
        for statement in (*cited, *statements):
            value = of(statement, text)
            if value:
                return Found(value, statement)
    raise ValueError(f"no sentence has {text!r}")


def _spelled(statement: ParsedSentence, text: str) -> str:
    """Returns a text as a sentence has it, whatever its case, quotes and dashes; empty if the sentence lacks it.

    A day is written as 2026-05-04, and a person with the full name.
    """
    match = _pattern(text).search(statement.passage.text)
    if match is None:
        return ""
    value, kind = value_of(statement, match[0])
    return value if kind in ("date", "person") else match[0]


@lru_cache(maxsize=1000)
def _pattern(text: str) -> re.Pattern[str]:
    parts = [r"\s+" if one.isspace() else _ALIKE.get(one, re.escape(one)) for one in re.sub(r"\s+", " ", text)]
    return re.compile(rf"(?<!\w){''.join(parts)}(?!\w)", re.IGNORECASE)


_QUOTES, _DOUBLE, _DASHES = "['’‘]", '["“”]', "[-–—−‑]"
_ALIKE = {**dict.fromkeys("'’‘", _QUOTES), **dict.fromkeys('"“”', _DOUBLE), **dict.fromkeys("-–—−‑", _DASHES)}


def _equal(statement: ParsedSentence, text: str) -> str:
    """Returns a day or an amount of a sentence that equals a text; empty if there is none."""
    if _DAY.fullmatch(text):
        dates = (one.value for one in statement.mentions if one.kind == "date")
        return next((value for value in dates if value.startswith(text)), "")
    number = number_of(text) if not _NAME.match(text) else None
    if number is None:
        return ""
    amounts = (one for one in statement.mentions if one.kind in ("money", "percent", "count"))
    return next((one.text for one in amounts if number_of(one.text) == number), "")


_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
_NAME = re.compile(r"[A-Za-z]{2}")
