"""Facts of whole documents by a language model of an API: one call for each document, with numbered sentences.

>>> stated = DocumentExtraction()(document=document).stated
>>> facts, refused = ReadDocument(document, Directory()).facts(stated)
>>> facts[0]
Fact("Orvane Semiconductor", "company", "acquires", "Brightlane Photonics", ...)

The model sees all relations of the schema. What it writes is held to the schema and to the sentence that it names: a
subject or an object that the document does not have, and a relation that joins other kinds, are refused by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.errors import SchemaError
from kg.investments import NewsDocument
from kg.news import Fact, number_of, sentences_of
from kg.sentences import Directory, DocumentNames, Mention, frames, plain_name
from kg.text import STOPWORDS, Period, periods, tokens
from programs.worlds.news.documents import NAME_KINDS, day_shown
from signatures.news import ListFacts, StatedFact

CONFIDENCE = 0.8
"""The confidence of a fact that such a model read; those by rules have from 0.6 to 0.9."""

MOST_TOKENS = 4096
"""Tokens of a reply."""

LONGEST = 20_000
"""Characters of a document that are read with one call."""

MOST_WORDS = 10
"""Words of an object that is no name."""

_UNKNOWN = frozenset(("name", "text"))


class DocumentExtraction(dspy.Module):
    """The program: one call for each document, or for each part of a long one.

    Attributes:
        list_facts: Its predictor.
    """

    needs_lm = True

    def __init__(self) -> None:
        super().__init__()
        self.list_facts = dspy.Predict(ListFacts)

    def forward(self, document: NewsDocument) -> dspy.Prediction:
        """Returns what the model states as ``stated``, and replies that could not be read as ``refused``, a line each.

        Args:
            document: The document.

        Raises:
            LMError: The model cannot be asked.
        """
        stated: list[StatedFact] = []
        refused: list[str] = []
        for part in shown_parts(document):
            try:
                reply = self.list_facts(document=part, relations=relations_shown(), config={"max_tokens": MOST_TOKENS})
            except (AdapterParseError, RecursionError) as error:
                refused.append(f"a reply could not be read: {' '.join(str(error).split())[:200]}")
                continue
            stated += reply.facts
        return dspy.Prediction(stated=stated, refused=refused)


def sentences_shown(document: NewsDocument) -> list[str]:
    """Returns the sentences in the order of their numbers, which begin at 1; the headline is the first."""
    return [document.headline, *sentences_of(document.text)]


def shown_parts(document: NewsDocument) -> Iterator[str]:
    """Yields a document as it is shown: the day and the numbered sentences, a long one in parts."""
    lines: list[str] = []
    for number, text in enumerate(sentences_shown(document), 1):
        if lines and sum(map(len, lines)) + len(text) > LONGEST:
            yield "\n".join((day_shown(document.published), *lines))
            lines = []
        lines.append(f"[{number}] {text}")
    yield "\n".join((day_shown(document.published), *lines))


class ReadDocument:
    """The sentences of a document with what they mention.

    Args:
        document: The document.
        directory: The names known before.
    """

    def __init__(self, document: NewsDocument, directory: Directory) -> None:
        self.document = document
        self.sentences = sentences_shown(document)
        names = DocumentNames(self.sentences, directory, 0)
        self._mentions = [names.mentions(place, text, document.published) for place, text in enumerate(self.sentences)]
        self._tokens = [tokens(text) for text in self.sentences]

    def facts(self, stated: Iterable[StatedFact]) -> tuple[tuple[Fact, ...], list[str]]:
        """Returns stated facts that the document and the schema hold, and why the others are refused, a line each."""
        found: list[Fact] = []
        refused: list[str] = []
        for one in stated:
            try:
                found.append(self.fact(one))
            except SchemaError as error:
                refused.append(str(error))
        return distinct(found), refused

    def fact(self, stated: StatedFact) -> Fact:
        """Returns a stated fact with its sentence.

        Raises:
            SchemaError: The document does not hold it, or the schema does not.
        """
        place = stated.sentence - 1
        if not 0 <= place < len(self.sentences):
            raise SchemaError(f"there is no sentence {stated.sentence}")
        written = f"{stated.subject} | {stated.relation} | {stated.object}"
        relation = stated.relation.strip().lower().replace(" ", "_")
        subject, kind = self._named(stated.subject, place)
        if kind in _UNKNOWN:
            kind = "name" if stated.subject_kind == "thing" else stated.subject_kind
        value, value_kind = self._value(stated.object, place)
        if relation == _TICKER and _SYMBOL.fullmatch(stated.object) and holds_words(self._tokens[place], stated.object):
            value, value_kind = stated.object, _TICKER  # elsewhere it stands for the company
        if plain_name(subject) == plain_name(value):
            raise SchemaError(f"a fact has two ends, got {written!r}")
        if relation in frames().relations:
            kind, value_kind = _fitting(relation, (kind, value_kind), value, written)
        elif relation == _ROLE and kind == "person":
            value_kind = _ROLE
        else:
            relation = self._own_relation(stated.relation, place)
        return Fact(
            subject,
            kind,
            relation,
            value,
            value_kind,
            self.sentences[place],
            self.document.name,
            self.document.published.isoformat(),
            CONFIDENCE,
            role=value if relation == _ROLE else "",
        )

    def _named(self, text: str, place: int) -> tuple[str, str]:
        """Returns the full name of a subject, and its kind; words of the document are of the kind "text"."""
        for mention in self._near(place):
            if mention.kind in NAME_KINDS and plain_name(text) in (plain_name(mention.value), plain_name(mention.text)):
                return mention.value or mention.text, mention.kind
        if not any(holds_words(there, text) for there in self._tokens) or len(text.split()) > MOST_WORDS:
            raise SchemaError(f"the document does not have the subject {text!r}")
        return text.strip(), "text"

    def _value(self, text: str, place: int) -> tuple[str, str]:
        """Returns an object in its normal form, and its kind."""
        for mention in self._mentions[place]:
            if _is(mention, text):
                return normal_form(mention), mention.kind
        for mention in self._near(place):
            if mention.kind in NAME_KINDS and plain_name(text) in (plain_name(mention.value), plain_name(mention.text)):
                return normal_form(mention), mention.kind
        if not holds_words(self._tokens[place], text) or len(text.split()) > MOST_WORDS:
            raise SchemaError(f"sentence {place + 1} does not have the object {text!r}")
        return text.strip(), "text"

    def _own_relation(self, words: str, place: int) -> str:
        """Returns a relation in the words of a sentence: all that mean something are there, or all if none does."""
        meant = [token for token in tokens(words) if token not in STOPWORDS] or tokens(words)
        if not meant or not set(meant) <= set(self._tokens[place]):
            raise SchemaError(f"the relation must be of the schema or of the sentence, got {words!r}")
        return words.strip()

    def _near(self, place: int) -> Iterable[Mention]:
        """The mentions of a sentence, and then of the others."""
        yield from self._mentions[place]
        for other, mentions in enumerate(self._mentions):
            if other != place:
                yield from mentions


_ROLE, _TICKER = "role", "ticker"
_SYMBOL = re.compile(r"[A-Z][A-Z.\d]{1,5}")
_AROUND = re.compile(
    r"(?:about|almost|around|at least|at most|more than|nearly|over|roughly|some|up to) (?=\S*\d)", re.I
)


@cache
def relations_shown() -> str:
    """Returns the relations of the schema as they are shown, each with the kinds of its ends."""

    def kinds(given: Sequence[str]) -> str:
        return ", ".join("thing" if one == "name" else one for one in given)

    lines = [
        f"{name.replace('_', ' ')}: {kinds(one.subject_types)} -> {kinds(one.object_types)}"
        for name, one in frames().relations.items()
    ]
    return "\n".join((*lines, "role: person -> title"))


def _is(mention: Mention, text: str) -> bool:
    """Whether a text is a mention: by its name, its day or its amount."""
    if plain_name(text) in (plain_name(mention.value), plain_name(mention.text)):
        return True
    if mention.kind == "date":
        named = periods(text)
        day = text.strip() if not named else _iso(named[0][2])
        return bool(mention.value) and mention.value.startswith(day)
    text = _AROUND.sub("", text.strip())
    number = number_of(text) if mention.kind in ("money", "percent", "count") and not text[:1].isalpha() else None
    return number is not None and number == number_of(mention.text)


def _iso(period: Period) -> str:
    """Returns a day as 2026-05-04, and a month as 2026-05."""
    return period.first.isoformat() if period.first == period.last else f"{period.first:%Y-%m}"


def _fitting(relation: str, kinds: tuple[str, str], value: str, written: str) -> tuple[str, str]:
    """Returns the kinds of both ends of a relation; a name of unknown kind has one that the relation joins.

    Raises:
        SchemaError: The relation joins other kinds.
    """
    rule = frames().relations[relation]
    subject, other = kinds
    if subject in _UNKNOWN:
        subject = next((one for one in rule.subject_types if one in NAME_KINDS), subject)
    things = [one for one in rule.object_types if one in NAME_KINDS]
    if other in _UNKNOWN and things and value[:1].isupper():
        other = things[0]
    if subject not in rule.subject_types or other not in rule.object_types:
        raise SchemaError(f"{relation} does not join {subject} and {other}: {written!r}")
    return subject, other


def holds_words(there: Sequence[str], words: str) -> bool:
    """Whether tokens have those of some words, in their order and without a gap."""
    wanted = tokens(words)
    return bool(wanted) and any(
        list(there[place : place + len(wanted)]) == wanted for place in range(len(there) - len(wanted) + 1)
    )


def distinct(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Returns facts without those that repeat an earlier one."""
    kept: dict[tuple[str, str, str], Fact] = {}
    for fact in facts:
        kept.setdefault((plain_name(fact.subject), fact.relation, plain_name(fact.object)), fact)
    return tuple(kept.values())


def normal_form(mention: Mention) -> str:
    """Returns a name, a day or a title in its normal form, and an amount as written."""
    is_written = mention.kind in ("money", "percent", "count")
    return mention.text if is_written or not mention.value else mention.value
