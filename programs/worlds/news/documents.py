r"""The documents nearest to a question as they are shown to a language model, and the places of what it quotes.

>>> document = near_documents(asked, library)[0]
>>> document.shown
'Orvane buys Brightlane\n2026-01-14\n\nBOISE - Orvane Semiconductor Corp. agreed to buy ...'
>>> document.located("on 4 May 2026").value
'2026-05-04'
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np

from kg.clauses import Library, ParsedSentence, Text
from kg.comprehension import Asked
from kg.news import Passage
from kg.sentences import Mention
from kg.text import WEEKDAYS

NAME_KINDS = frozenset(("company", "person", "place", "product", "name"))
"""Kinds of names, which become nodes."""

MOST = 3
"""Documents that are shown for one question to an embedded model."""

LEAST_SHARE = 0.6
"""The least nearness of a document, as a share of the nearest one."""

LONGEST = 3000
"""Characters of a document; of a longer one the sentences nearest to the question are shown."""

_WORDS = frozenset(("NOUN", "PROPN", "VERB", "ADJ", "NUM"))
_LEADING = frozenset(("ADP", "DET", "ADV", "SCONJ", "CCONJ", "PART", "PRON", "AUX", "PUNCT"))


@dataclass(frozen=True)
class Located:
    """A quoted span in a document.

    Attributes:
        value: It as an answer: a day as 2026-05-04, a name in its full form, other spans as quoted.
        kind: The kind of the name, amount or day; empty for other spans.
        passage: The sentence.
        similarity: The similarity of the sentence to the question.
    """

    value: str
    kind: str
    passage: Passage
    similarity: float


@dataclass(frozen=True)
class NearDocument:
    """A document near to a question.

    Attributes:
        text: The document.
        similarities: That of each sentence to the question, by the encoder.
        words: The share of the question's words that it has, by their weight.
        sentences: The sentences that are shown, the headline first.
    """

    text: Text
    similarities: tuple[float, ...]
    words: float
    sentences: tuple[str, ...]

    @property
    def statements(self) -> tuple[ParsedSentence, ...]:
        """The statements that are shown; a headline that repeats the first sentence is not."""
        by_text = {one.passage.text: one for one in self.text.statements}
        return tuple(by_text[text] for text in dict.fromkeys(self.sentences))

    @property
    def shown(self) -> str:
        """The headline, the day and the sentences."""
        headline, *rest = self.sentences
        return f"{headline}\n{self.text.published}\n\n{' '.join(rest)}"

    @property
    def similarity(self) -> float:
        """That of the nearest sentence."""
        return max(self.similarities)

    @property
    def nearness(self) -> float:
        """The order of documents: the similarity and the words together."""
        return self.similarity + self.words

    def located(self, span: str) -> Located | None:
        """Returns the sentence that has a span, of several the nearest to the question, and the span as an answer."""
        lowered = span.lower()
        pairs = zip(self.similarities, self.text.statements, strict=True)
        holding = [(similar, one) for similar, one in pairs if lowered in one.passage.text.lower()]
        if not holding:
            return None
        similar, statement = max(holding, key=lambda pair: pair[0])
        value, kind = value_of(statement, span)
        return Located(value, kind, statement.passage, similar)


def day_shown(day: date) -> str:
    """Returns the day of a document as it is shown: "2026-01-14 (Wednesday)"."""
    return f"{day} ({WEEKDAYS[day.weekday()]})"


def near_documents(
    asked: Asked, library: Library, most: int = MOST, least_share: float = LEAST_SHARE
) -> list[NearDocument]:
    """Returns the documents nearest to a question by similar sentences and shared words, the nearest first.

    Args:
        asked: The question.
        library: The documents.
        most: Documents at the most.
        least_share: How near a document must be, as a share of the nearest one.
    """
    lemmas = {token.lemma for token in asked.parse.tokens if token.part in _WORDS}
    total = sum(map(library.weight, lemmas))
    scored = []
    for text in library.texts:
        there = {token.lemma for one in text.statements for token in one.parse.tokens}
        words = sum(library.weight(lemma) for lemma in lemmas & there) / total if total else 0.0
        similar = _similarities(asked, text, library)
        scored.append(NearDocument(text, similar, words, _shown(text, similar)))
    scored.sort(key=lambda one: -one.nearness)
    return [one for one in scored[:most] if one.nearness >= least_share * scored[0].nearness]


def _similarities(asked: Asked, text: Text, library: Library) -> tuple[float, ...]:
    if library.encoder is None:
        return (0.0,) * len(text.statements)
    question = library.encoder.vectors([asked.text])[0]
    vectors = library.encoder.vectors([one.parse.text for one in text.statements])
    return tuple((vectors @ question).tolist())


def _shown(text: Text, similar: tuple[float, ...]) -> tuple[str, ...]:
    """Returns the headline and the sentences of a document, of a long one those nearest to the question."""
    sentences = [one.passage.text for one in text.statements]
    if sum(map(len, sentences)) <= LONGEST:
        return tuple(sentences)
    kept, length = {0}, len(sentences[0])
    for place in np.argsort(-np.array(similar), kind="stable").tolist():
        if place not in kept and length + len(sentences[place]) <= LONGEST:
            kept.add(place)
            length += len(sentences[place])
    return tuple(sentences[place] for place in sorted(kept))


def value_of(statement: ParsedSentence, span: str) -> tuple[str, str]:
    """Returns a span of a sentence as an answer, and its kind."""
    text = statement.parse.text
    start = text.lower().find(span.lower())
    if start < 0:
        return span, ""
    end = start + len(span)
    bare = next((one.start for one in statement.parse.inside(start, end) if one.part not in _LEADING), start)
    for mention in statement.mentions:
        if _is_mention(statement, mention, bare, end):
            full = mention.kind in NAME_KINDS or mention.kind == "date"
            return (mention.value or mention.text) if full else text[bare:end], mention.kind
    return text[bare:end], ""


def _is_mention(statement: ParsedSentence, mention: Mention, start: int, end: int) -> bool:
    """Whether a span is a mention, a part of it, or it with words of no meaning around."""
    if mention.start <= start and end <= mention.end:
        return True
    if not start <= mention.start < mention.end <= end:
        return False
    rest = [one for one in statement.parse.inside(start, end) if one.start < mention.start or one.end > mention.end]
    return all(token.part in _LEADING for token in rest)
