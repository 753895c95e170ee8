"""Facts and events of whole documents by a language model: one call for each document, with numbered sentences.

>>> reply = ReadDocuments()(document=document)
>>> facts, events, refused = validate(document, known_names(graph), reply)
>>> facts[0]
Fact("Orvane Semiconductor", "company", "acquires", "Brightlane Photonics", ...)

The model sees all relations of ``kg/news/relations.json`` and all kinds of events of the graph's schema. Each row is
held to these and to the sentence that it names. A subject or an object that the document does not have is refused, and
so is a relation that joins other kinds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.errors import SchemaError
from kg.growing import AddEdge, AddNode, NodeKey, Update
from kg.investments import investment_schema
from kg.news import NAME_KINDS, Fact, NewsDocument, Passage, days_in, passages_of, plain_name, relations
from kg.text import STOPWORDS, WEEKDAYS, tokens
from programs.worlds.news.reading import equal, spelled
from signatures.news import ReadNews, StatedEvent, StatedFact

CONFIDENCE = 0.8
"""The confidence of a fact that a language model read."""

MOST_TOKENS, LONGEST, MOST_WORDS = 4096, 20_000, 10
"""Tokens of a reply, characters of a document that are read with one call, and words of an object that is no name."""

_DATELINE = re.compile(r"^(?:[A-Z][A-Z .,'’]+|[^.()]{1,60}\([^()]+\))\s*[-–—]+\s+")
"""The beginning of a sentence with a place in capitals, or with place, day and agency in brackets."""
_SYMBOL = re.compile(r"[A-Z][A-Z.\d]{1,5}")
_KIND_OF_THING = "name"


class ReadDocuments(dspy.Module):
    """The program: one call for each document, or for each part of a long one.

    Attributes:
        read_news: Its predictor.
    """

    needs_lm = True

    def __init__(self) -> None:
        super().__init__()
        self.read_news = dspy.Predict(ReadNews)

    def forward(self, document: NewsDocument) -> dspy.Prediction:
        """Returns what the model states as ``facts`` and ``events``, and replies that could not be read as ``refused``.

        Args:
            document: The document.

        Raises:
            LMError: The model cannot be asked.
        """
        found: dict[str, list[Any]] = {"facts": [], "events": [], "refused": []}
        for part in shown_parts(document):
            try:
                reply = self.read_news(document=part, config={"max_tokens": MOST_TOKENS}, **schema_shown())
            except (AdapterParseError, RecursionError) as error:
                found["refused"].append(f"a reply could not be read: {' '.join(str(error).split())[:200]}")
                continue
            found["facts"] += reply.facts
            found["events"] += reply.events
        return dspy.Prediction(**found)

    @staticmethod
    def recorded(rows: Mapping[str, Sequence[Any]]) -> dspy.Prediction:
        """Returns a reply that was recorded: its ``facts`` and ``events`` as JSON."""
        facts = [StatedFact.model_validate(row) for row in rows["facts"]]
        return dspy.Prediction(
            facts=facts, events=[StatedEvent.model_validate(row) for row in rows["events"]], refused=[]
        )


def shown_parts(document: NewsDocument) -> Iterator[str]:
    """Yields a document as it is shown: the day and the numbered sentences, a long one in parts."""
    day = f"{document.published} ({WEEKDAYS[document.published.weekday()]})"
    lines: list[str] = []
    for number, passage in enumerate(passages_of(document), 1):
        if lines and sum(map(len, lines)) + len(passage.text) > LONGEST:
            yield "\n".join((day, *lines))
            lines = []
        lines.append(f"[{number}] {passage.text}")
    yield "\n".join((day, *lines))


@cache
def schema_shown() -> dict[str, str]:
    """Returns the relations, each with the kinds of its ends, and the kinds of events, as they are shown."""

    def kinds(given: Sequence[str]) -> str:
        return ", ".join("thing" if kind == _KIND_OF_THING else kind for kind in given)

    rows = (
        f"{name.replace('_', ' ')}: {kinds(one.subject)} -> {kinds(one.object)}" for name, one in relations().items()
    )
    return {"relations": "\n".join(rows), "event_kinds": ", ".join(event_kinds())}


@cache
def event_kinds() -> tuple[str, ...]:
    """Returns the kinds of events of the schema."""
    properties = investment_schema().node_type("MarketEvent").properties_schema["properties"]
    return tuple(properties["type"]["enum"])


Validated = tuple[list[Fact], list[tuple[Update, str]], list[str]]
"""Facts, updates that write events with their sentences, and why the other rows are refused."""


def validate(document: NewsDocument, names: Mapping[str, tuple[str, str]], reply: Any) -> Validated:
    """Returns the facts and events of a reply that a document and the schema hold.

    Args:
        document: The document.
        names: The kind and the full name of each name that the graph knows, by its plain form.
        reply: ``facts``, ``events`` and ``refused`` of :class:`ReadDocuments`.
    """
    check = _Check(document, names)
    facts: dict[tuple[str, str, str], Fact] = {}
    events: list[tuple[Update, str]] = []
    refused = [str(problem) for problem in reply.refused]
    for stated in (*reply.facts, *reply.events):
        try:
            if isinstance(stated, StatedFact):
                fact = check.fact(stated)
                facts.setdefault((plain_name(fact.subject), fact.relation, plain_name(fact.value)), fact)
            else:
                events += [pair for pair in check.event(stated) if pair not in events]
        except SchemaError as error:
            refused.append(str(error))
    return list(facts.values()), events, refused


def _day(text: str, passage: Passage) -> str:
    """Returns the day, month or year of an event as its sentence has it; without one that of the document.

    Raises:
        SchemaError: The sentence does not have it.
    """
    if not text:
        return passage.published.isoformat()
    days = [day for _, _, day in days_in(passage.text, passage.published)]
    day = next((day for day in days if day.startswith(text) or text.startswith(day)), "")
    if not day:
        raise SchemaError(f"the sentence does not have the day {text!r}: {passage.text!r}")
    return day


class _Check:
    """The sentences of a document, to which rows are held."""

    def __init__(self, document: NewsDocument, names: Mapping[str, tuple[str, str]]) -> None:
        self._publisher, self._names = plain_name(document.source), names
        self._passages = passages_of(document)

    def fact(self, stated: StatedFact) -> Fact:
        """Returns a stated fact with its sentence.

        Raises:
            SchemaError: The document does not hold it, or the schema does not.
        """
        passage = self._passage(stated.sentence)
        written = f"{stated.subject} | {stated.relation} | {stated.object}"
        relation = stated.relation.strip().lower().replace(" ", "_")
        rule = relations().get(relation)
        known, subject = self._named(stated.subject)
        subject_kind = known or (_KIND_OF_THING if stated.subject_kind == "thing" else stated.subject_kind)
        if rule is None:
            relation = self._own_relation(stated.relation, passage)
        elif subject_kind not in rule.subject:
            raise SchemaError(f"{relation} has no subject of the kind {subject_kind}: {written!r}")
        kind, value = self._value(stated.object, rule.object if rule is not None else ("text",), passage)
        if plain_name(subject) == plain_name(value):
            raise SchemaError(f"a fact has two ends, got {written!r}")
        return Fact(
            subject,
            subject_kind,
            relation,
            value,
            kind,
            passage.text,
            passage.document,
            passage.published.isoformat(),
            CONFIDENCE,
        )

    def event(self, stated: StatedEvent) -> Iterator[tuple[Update, str]]:
        """Yields the updates that write a stated event, each with its sentence.

        Raises:
            SchemaError: The document does not hold it, or its kind is not one of the schema.
        """
        passage = self._passage(stated.sentence)
        if stated.kind not in event_kinds():
            raise SchemaError(f"the kind of an event must be one of {', '.join(event_kinds())}, got {stated.kind!r}")
        _, company = self._party(stated.company)
        summary = f"{company}: {passage.text}"
        properties: dict[str, Any] = {
            "type": stated.kind,
            "summary": summary,
            "occurred_at": _day(stated.day, passage),
        }
        if stated.figure:
            if not (figure := spelled(passage, stated.figure) or equal(passage, stated.figure)):
                raise SchemaError(f"sentence {stated.sentence} does not have the figure {stated.figure!r}")
            properties |= {"value": figure, "measure": stated.kind}
        if stated.party:
            properties["party"] = self._party(stated.party)[1]
        if stated.failed:
            properties["outcome"] = "failed"
        event, affected = NodeKey("MarketEvent", f"{summary} ({stated.kind})"), NodeKey("Company", company)
        yield AddNode(event.type, event.name, properties), passage.text
        yield AddNode(affected.type, affected.name), passage.text
        yield AddEdge("affects", event, affected, {"direction": stated.direction}), passage.text

    def _passage(self, number: int) -> Passage:
        if not 0 < number <= len(self._passages):
            raise SchemaError(f"there is no sentence {number}")
        return self._passages[number - 1]

    def _party(self, text: str) -> tuple[str, str]:
        """Returns the kind and the full name of who takes part in an event; no publisher and no dateline does."""
        prose = (_DATELINE.sub("", passage.text) for passage in self._passages)
        if plain_name(text) == self._publisher or not re.search(rf"\b{re.escape(text)}", " ".join(prose), re.I):
            raise SchemaError(f"the document does not have {text!r} as one that takes part in an event")
        return self._named(text)

    def _named(self, text: str) -> tuple[str, str]:
        """Returns the kind, if the graph knows it, and the full name of what the document names, in its own case."""
        if not any(spelled(passage, text.strip()) for passage in self._passages) or len(text.split()) > MOST_WORDS:
            raise SchemaError(f"the document does not have {text!r}")
        kind, name = self._names.get(plain_name(text), ("", text.strip()))
        return kind, text.strip() if name.casefold() == text.strip().casefold() else name

    def _value(self, text: str, kinds: Sequence[str], passage: Passage) -> tuple[str, str]:
        """Returns the kind and the normal form of an object that is of one of some kinds."""
        text = text.strip()
        value = spelled(passage, text) or equal(passage, text)
        names = [kind for kind in kinds if kind in NAME_KINDS]
        if names and (text[:1].isupper() or names == list(kinds)):
            known, full = self._named(text)
            return (known if known in names else names[0]), full
        if not value or len(text.split()) > MOST_WORDS:
            raise SchemaError(f"the sentence does not have the object {text!r}: {passage.text!r}")
        if kinds == ("ticker",):
            if not _SYMBOL.fullmatch(text):
                raise SchemaError(f"a ticker has capital letters, got {text!r}")
            return "ticker", text
        kind = kinds[0]
        if kind in ("money", "percent", "count") and not re.search(r"\d", value) and not equal(passage, text):
            raise SchemaError(f"{text!r} is no amount: {passage.text!r}")
        if kind == "date" and not re.match(r"\d{4}", value):
            raise SchemaError(f"{text!r} is no day: {passage.text!r}")
        return kind, value

    def _own_relation(self, words: str, passage: Passage) -> str:
        """Returns a relation in the words of a sentence: all that mean something are there, or all if none does."""
        meant = [token for token in tokens(words) if token not in STOPWORDS] or tokens(words)
        if not meant or not set(meant) <= set(tokens(passage.text)):
            raise SchemaError(f"the relation must be of the schema or of the sentence, got {words!r}")
        return words.strip()
