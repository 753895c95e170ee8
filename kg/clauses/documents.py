"""Documents as statements: parsed sentences with mentions, referents of pronouns, and descriptions of names.

>>> library = Library.read([Passage("wire-1", date(2026, 3, 2), 0, "Corvex Resources bid for Talbridge.")], parser)
>>> library.statements[0].mentions[0].value
'Corvex Resources'
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import pairwise

import numpy as np

from kg.clauses.headlines import prepared
from kg.clauses.meaning import SentenceEncoder
from kg.clauses.mentions import NAMES, is_legal, mentions_of, untitled
from kg.clauses.parser import SentenceParser, SyntaxTree
from kg.clauses.roles import moves_of
from kg.clauses.spans import spans_of
from kg.news import Passage
from kg.sentences import Directory, DocumentNames, Mention, language, plain_name

_LEAST_NEAR, _MOST_NEAR = 0.45, 0.7
"""The least similarity of two words by the encoder, and the most that one counts."""

CONTENT = frozenset(("NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV"))

_PERSON_WORDS = frozenset(("he", "she", "him", "her", "his", "hers"))
_COMPANY_WORDS = frozenset(("it", "its", "we", "our", "us", "itself"))


@dataclass(frozen=True)
class ParsedSentence:
    """A sentence with what it mentions.

    Attributes:
        passage: The sentence.
        parse: Its tree.
        mentions: Its names, titles, amounts and dates.
        referred: What pronouns and nouns such as "the company" stand for: the word's number and the full name.
    """

    passage: Passage
    parse: SyntaxTree
    mentions: tuple[Mention, ...]
    referred: tuple[tuple[int, str], ...]

    @cached_property
    def values(self) -> tuple[Mention, ...]:
        """The values that may answer a question: its mentions, and the spans that are no mention."""
        return (*self.mentions, *spans_of(self.parse, self.mentions))


@dataclass(frozen=True)
class Text:
    """A document.

    Attributes:
        name: Its name.
        published: Its day.
        main: The company that it is about, or ``""``.
        statements: Its sentences; the headline is the first.
        names: All full names in it, in their plain form.
    """

    name: str
    published: date
    main: str
    statements: tuple[ParsedSentence, ...]
    names: frozenset[str]


class Library:
    """Documents with their names and words.

    Args:
        texts: The documents, the oldest first.
        directory: Their names.
        encoder: The encoder of sentences, if one is installed.
    """

    def __init__(self, texts: Sequence[Text], directory: Directory, encoder: SentenceEncoder | None = None) -> None:
        self.texts = tuple(texts)
        self.encoder = encoder
        self.directory = directory
        self.text_of = {text.name: text for text in self.texts}
        self.statements = [statement for text in self.texts for statement in text.statements]
        counted = Counter(lemma for one in self.statements for lemma in {token.lemma for token in one.parse.tokens})
        total = max(len(self.statements), 1)
        self._near: dict[str, dict[str, float]] = {}
        self._weights = {lemma: math.log(1 + total / count) for lemma, count in counted.items()}
        self._most = math.log(1 + total)
        self.descriptions = _descriptions(self.statements)
        self.departures = _departures(self.statements)
        self.containers = frozenset(_containers(self.statements))

    @classmethod
    def read(cls, passages: Iterable[Passage], parser: SentenceParser) -> Library:
        """Parses documents and resolves their names."""
        grouped: defaultdict[str, list[Passage]] = defaultdict(list)
        for passage in passages:
            grouped[passage.document].append(passage)
        documents = sorted((prepared(group) for group in grouped.values()), key=_first)
        directory = Directory()
        parses = iter(parser.parse([one.text for group in documents for one in group]))
        parsed = [[next(parses) for _ in group] for group in documents]
        for group, trees in zip(documents, parsed, strict=True):
            names = DocumentNames([one.text for one in group], directory)
            _add_tickers(directory, names, group)
            _add_names(directory, names, untitled(names.kinds, trees))
        texts = [_text(group, trees, directory) for group, trees in zip(documents, parsed, strict=True)]
        for text in texts:
            for kind, name in _new_names(text, directory):
                directory.add(kind, name)
        return cls(texts, directory, SentenceEncoder.load())

    def weight(self, lemma: str) -> float:
        """Returns the weight of a word: its inverse frequency in the sentences."""
        return self._weights.get(lemma, self._most) / self._most

    def nearness(self, lemma: str) -> dict[str, float]:
        """Returns the words of the documents near to a word by the encoder, each with its similarity in (0, 0.7]."""
        if self.encoder is None:
            return {}
        if lemma not in self._near:
            words = list(self._weights)
            found = self.encoder.vectors(words) @ self.encoder.vectors([lemma])[0]
            near = np.flatnonzero(found > _LEAST_NEAR).tolist()
            self._near[lemma] = {words[place]: min(_MOST_NEAR, float(found[place])) for place in near}
        return self._near[lemma]

    def has_word(self, lemma: str) -> bool:
        """Whether a word occurs in the documents."""
        return lemma in self._weights


def _first(group: Sequence[Passage]) -> tuple[date, str]:
    return group[0].published, group[0].document


def _add_tickers(directory: Directory, names: DocumentNames, group: Sequence[Passage]) -> None:
    """Adds the symbols in brackets after companies as their other names."""
    for place, passage in enumerate(group):
        if "(" not in passage.text:
            continue
        mentions = names.mentions(place, passage.text, passage.published)
        for ticker in (one for one in mentions if one.kind == "ticker"):
            before = [one for one in mentions if one.kind in ("company", "name") and one.end <= ticker.start]
            if before and ticker.start - before[-1].end < 25 and not is_legal(before[-1].text):
                directory.add("company", before[-1].value or before[-1].text, [ticker.value])
            elif len(before) > 1 and ticker.start - before[-1].end < 25:
                directory.add("company", before[-2].value or before[-2].text, [ticker.value])


def _add_names(directory: Directory, names: DocumentNames, shorter: dict[str, str]) -> None:
    for name, (kind, full) in names.kinds.items():
        if name in shorter:
            if kind in ("person", "company"):
                words = shorter[name].split()
                organisation = len(words) < 2 or words[-1] in language().organisation_words
                directory.add(kind if organisation else "person", shorter[name])
        elif kind in ("company", "person", "place", "product") and not is_legal(full):
            directory.add(kind, full, [name] if name != full else ())


def _new_names(text: Text, directory: Directory) -> Iterator[tuple[str, str]]:
    for statement in text.statements:
        for mention in statement.mentions:
            if mention.kind in NAMES and mention.kind not in ("name", "ticker") and not directory.find(mention.value):
                yield mention.kind, mention.value


def _text(group: Sequence[Passage], parses: Sequence[SyntaxTree], directory: Directory) -> Text:
    names = DocumentNames([one.text for one in group], directory)
    found = mentions_of(names, group, parses, directory)
    main = _main(group, found)
    statements: list[ParsedSentence] = []
    topic, person = main, ""
    for passage, parse, mentions in zip(group, parses, found, strict=True):
        referred = tuple(_referred(parse, mentions, topic, main, person))
        statements.append(ParsedSentence(passage, parse, tuple(mentions), referred))
        people = [one.value for one in mentions if one.kind == "person"]
        person = people[-1] if people else person
        topic = next((one.value for one in mentions if one.kind == "company" and _is_subject(parse, one)), topic)
    inside = frozenset(plain_name(one.value) for mentions in found for one in mentions if one.kind in NAMES)
    return Text(group[0].document, group[0].published, main, tuple(statements), inside)


def _main(group: Sequence[Passage], found: Sequence[Sequence[Mention]]) -> str:
    """Returns the company that is named most, above all early and not after a preposition."""
    counted: Counter[str] = Counter()
    for number, (passage, mentions) in enumerate(zip(group, found, strict=True)):
        for one in mentions:
            if one.kind == "company":
                plain = not re.search(
                    r"\b(?:of|in|with|by|from|to|at|for|on|against|into) $", passage.text[: one.start]
                )
                counted[one.value] += (2 if plain else 1) + (2 if number < 2 and plain else 0)
        if passage.place < 0:
            named = [one.value for one in mentions if one.kind == "company"]
            counted.update(dict.fromkeys(named[:1], 3))
    return counted.most_common(1)[0][0] if counted else ""


def _is_subject(parse: SyntaxTree, mention: Mention) -> bool:
    head = parse.head_of(mention.start, mention.end)
    return head is not None and head.relation in ("nsubj", "nsubjpass")


def _referred(
    parse: SyntaxTree, mentions: Sequence[Mention], topic: str, main: str, person: str
) -> Iterator[tuple[int, str]]:
    """Yields the words that stand for a name, with it."""
    nouns = language().anaphors
    for token in parse.tokens:
        if any(one.start <= token.start < one.end for one in mentions):
            continue
        before = [one for one in mentions if one.end <= token.start]
        if token.text.lower() in _PERSON_WORDS:
            people = [one.value for one in before if one.kind == "person"]
            if people or person:
                yield token.place, people[-1] if people else person
        elif token.text.lower() in _COMPANY_WORDS:
            companies = [one.value for one in before if one.kind == "company"]
            if companies or topic:
                yield token.place, companies[0] if companies else topic
        elif token.part in ("NOUN", "PROPN") and token.text.lower() in nouns and main:
            articles = {parse.tokens[child].text.lower() for child in parse.children[token.place]}
            if articles & {"the", "its", "our", "this"}:
                yield token.place, main


def _departures(statements: Sequence[ParsedSentence]) -> dict[str, Passage]:
    """Returns the last sentence in which each person leaves an office."""
    found: dict[str, Passage] = {}
    for statement in statements:
        for mention in statement.mentions:
            head = statement.parse.head_of(mention.start, mention.end) if mention.kind == "person" else None
            if head is not None and moves_of(statement.parse, head.place)[0]:
                name = plain_name(mention.value)
                if name not in found or found[name].published <= statement.passage.published:
                    found[name] = statement.passage
    return found


def _containers(statements: Sequence[ParsedSentence]) -> Iterator[str]:
    """Yields the regions after towns: Arizona of "Phoenix, Arizona"."""
    for statement in statements:
        for one, other in pairwise(statement.mentions):
            if (
                one.kind == "place"
                and other.kind in ("place", "name")
                and statement.passage.text[one.end : other.start] == ", "
            ):
                yield other.value or other.text


def _descriptions(statements: Sequence[ParsedSentence]) -> dict[str, frozenset[str]]:
    """Returns the nouns by which names are described: "miner Talbridge", "Corvex, a producer", "the bank"."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for statement in statements:
        parse = statement.parse
        for mention in statement.mentions:
            head = parse.head_of(mention.start, mention.end) if mention.kind in NAMES else None
            if head is None:
                continue
            described = found[plain_name(mention.value)]
            described |= {word.lower() for word in mention.value.split()[-1:]}
            described |= set(_nouns_of(parse, mention, head.place))
        for place, name in statement.referred:
            if parse.tokens[place].part in ("NOUN", "PROPN"):
                found[plain_name(name)].add(parse.tokens[place].lemma)
    return {name: frozenset(nouns) for name, nouns in found.items()}


def _nouns_of(parse: SyntaxTree, mention: Mention, head: int) -> Iterator[str]:
    """Yields the nouns beside a name: compounds, appositions and predicates."""
    token = parse.tokens[head]
    for child in parse.children[head]:
        other = parse.tokens[child]
        outside = other.end <= mention.start or other.start >= mention.end
        if other.relation in ("compound", "appos", "nmod", "amod") and other.part in ("NOUN", "PROPN") and outside:
            yield other.lemma
    if token.relation in ("appos", "compound", "poss"):
        above = parse.tokens[token.head]
        if above.part == "NOUN" and token.relation != "poss":
            yield above.lemma
    if token.relation == "nsubj" and parse.tokens[token.head].lemma == "be":
        for child in parse.children[token.head]:
            if parse.tokens[child].relation == "attr":
                yield parse.tokens[child].lemma
