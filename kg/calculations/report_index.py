"""A report graph compiled to arrays: what the search reads while it scores.

Every figure of the graph becomes one or more *items*, the ways in which the program language may write it::

    cell "-26 ( 26 )"  ->  items -26 and 26          cell "4.02% ( 4.02 % )"  ->  items 4.02 and 4.02%

Tokens are interned per report. The overlap of a question with every label, sentence or window is one product of a
sparse matrix and a vector; memory grows with the length of the texts.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import get_args

import numpy as np
from scipy.sparse import csr_matrix

from kg.arrays import BoolArray, DoubleArray, FloatArray, IntArray
from kg.reports import CellSource, Observation, SentenceSource
from kg.search import Derivation, Number
from kg.text import MOST_DIGITS, Quantity, Unit, content_tokens, tokens, years

UNITS: tuple[Unit, ...] = get_args(Unit)

FIELDS = ("label", "column", "sentence", "left", "right", "near", "phrases", "clause")
"""The texts of an item that a question is compared with.

``left``, ``right`` and ``near`` are windows in a sentence; ``phrases`` are the pairs of neighbouring tokens of the
label or the window. ``clause`` is what of its sentence is said of a figure alone and not of those beside it.
"""

WINDOW = 8
"""Tokens on either side of a figure in a sentence that count as its window."""

NEAR = 3
"""Tokens on either side that are near."""

_LARGEST = 10.0**MOST_DIGITS
_LINE = attrgetter("label", "section", "quantity.unit")

_OPENING = re.compile(
    r"\b(?:january 1\b|jan ?\. ?1\b|beginning\b|opening balance)(?!.*\b(?:to|through)\b)", re.IGNORECASE
)


def is_opening(text: str) -> bool:
    """Whether a label or question speaks of a balance at the beginning of a year: "balance at january 1"."""
    return _OPENING.search(text) is not None


@dataclass(frozen=True)
class Idf:
    """Inverse document frequencies of tokens, learned from training reports.

    Attributes:
        weights: From a token to its weight, larger than 0.
        unseen: The weight of any other token.
    """

    weights: Mapping[str, float]
    unseen: float

    def __call__(self, token: str) -> float:
        """The weight of a token."""
        return self.weights.get(token, self.unseen)

    @classmethod
    def learn(cls, documents: Sequence[str]) -> Idf:
        """Counts in how many documents each token occurs; tokens of a single document count as unseen."""
        counts: dict[str, int] = {}
        for document in documents:
            for token in set(tokens(document)):
                counts[token] = counts.get(token, 0) + 1
        total = max(len(documents), 1)
        weights = {
            token: round(float(np.log(1 + total / count)), 4) for token, count in sorted(counts.items()) if count > 1
        }
        return cls(weights, round(float(np.log(1 + total)), 4))


class TokenField:
    """One text of every item as a sparse binary matrix, items by tokens; its size is that of the texts.

    Args:
        texts: The tokens of each item's text.
        vocabulary: The column of each token.
        weights: The weight of each column.
    """

    def __init__(self, texts: Sequence[Collection[str]], vocabulary: Mapping[str, int], weights: FloatArray) -> None:
        columns, ends = array("i"), array("i", [0])
        for words in texts:
            columns.extend(sorted({vocabulary[word] for word in words}))
            ends.append(len(columns))
        places = np.asarray(columns)
        self._matrix = csr_matrix((weights[places], places, np.asarray(ends)), shape=(len(texts), len(vocabulary)))
        self.mass = self.overlap(np.ones(len(vocabulary), dtype=np.float32))

    def overlap(self, question: FloatArray) -> FloatArray:
        """Summed weights of the tokens that each item shares with a question (a 0/1 vector over the vocabulary)."""
        shared: FloatArray = self._matrix @ question
        return shared

    def holds(self, columns: Sequence[int]) -> BoolArray:
        """Whether each item has each of some tokens; shape ``(items, tokens)``."""
        found: BoolArray = self._matrix[:, columns].toarray() > 0
        return found


class ReportIndex:
    """The items of a report with everything the search compares.

    Attributes:
        observations: The report graph's figures.
        sentences: The report's sentences, in which the sources of figures in sentences count.
        base: Index of each item's observation.
        values: Each item's exact value.
        texts: Each item as the program language writes it.
        period: The year of each observation, -1 for none. A balance at the beginning of a year is one of the
            end of the year before.
        opening: Whether each observation is such a balance.
        kept_rows: The rows that are there, if the report is an excerpt.
        numbers: The same values as floats; what is larger than any figure is 10**15, with its sign.
    """

    def __init__(
        self,
        observations: Sequence[Observation],
        sentences: Sequence[str],
        idf: Idf,
        kept_rows: Sequence[int] | None = None,
    ) -> None:
        self.kept_rows = kept_rows
        self.observations = tuple(observations)
        self.sentences = tuple(sentences)
        self.idf = idf
        self._expand_items()
        self._places(sentences)
        self._fields(sentences)

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def is_figure(self) -> BoolArray:
        """Whether each observation is a figure, and no date or header."""
        return np.array([not one.in_header for one in self.observations], dtype=bool)

    @cached_property
    def _items(self) -> dict[tuple[int, int], int]:
        """The first item of each observation and variant."""
        pairs = zip(self.base.tolist(), self.variant.tolist(), strict=True)
        return {key: item for item, key in reversed(list(enumerate(pairs)))}

    def number(self, place: int, variant: int = 0) -> Number:
        """The figure of an observation in one of its variants, or else as it is written, with its path."""
        observation = self.observations[place]
        item = self._items.get((place, variant), self._items[place, 0])
        return Number(self.texts[item], observation.path, observation.id)

    @cached_property
    def first_item(self) -> dict[int, int]:
        """The first item of each observation."""
        return {int(base): place for place, base in reversed(list(enumerate(self.base)))}

    @cached_property
    def place_of(self) -> dict[str, int]:
        """The place of each observation, by its id."""
        return {one.id: place for place, one in enumerate(self.observations)}

    def has_gap(self, first: int, last: int) -> bool:
        """Whether the index is of an excerpt that leaves out a row between two rows."""
        if self.kept_rows is None or first < 0:
            return False
        return bisect_right(self.kept_rows, last) - bisect_left(self.kept_rows, first) < last - first + 1

    def _expand_items(self) -> None:
        gains = {_LINE(one) for one in self.observations if one.quantity.value > 0 and one.period}
        items = [
            (place, *written)
            for place, observation in enumerate(self.observations)
            for written in _written_forms(observation.quantity, has_gains=_LINE(observation) in gains)
        ]
        self.base: IntArray = np.array([place for place, _, _ in items], dtype=np.int64)
        self.variant: IntArray = np.array([variant for _, _, variant in items], dtype=np.int64)
        self.texts = tuple(text for _, text, _ in items)
        self.values: tuple[Decimal, ...] = tuple(Number(text).value for text in self.texts)
        self.numbers = _floats(self.values)

    def _places(self, sentences: Sequence[str]) -> None:
        places = [
            (one.source.row, one.source.column, -1)
            if isinstance(one.source, CellSource)
            else (-1, -1, one.source.sentence)
            for one in self.observations
        ]
        self.row, self.column, self.sentence = np.array(places, dtype=np.int64).reshape(-1, 3).T.copy()
        counts: Counter[tuple[int, int, int]] = Counter()
        self.ordinal = np.zeros(len(places), dtype=np.int64)
        for number, place in enumerate(places):
            self.ordinal[number] = counts[place]
            counts[place] += 1
        named = [years(one.period or "") for one in self.observations]
        labels = (f"{one.label} {one.column_label}" for one in self.observations)
        dated = np.array([bool(own) for own in named], dtype=bool) & (self.row >= 0)
        self.opening: BoolArray = dated & np.array([is_opening(label) for label in labels], dtype=bool)
        self.period: IntArray = np.array([own[-1] if own else -1 for own in named], dtype=np.int64) - self.opening
        quantities = [one.quantity for one in self.observations]
        # Two readings of one place are one figure.
        figures = {(abs(one.quantity.value), one.source) for one in self.observations}
        repeats = Counter(value for value, _ in figures)
        self.repeats = np.array([repeats[abs(one.value)] for one in quantities])
        self.unit = np.array([UNITS.index(one.unit) for one in quantities])
        self.scale = np.array([one.scale for one in quantities])
        self.signed = _floats([one.value for one in quantities])
        self.amounts = np.abs(self.signed)
        self.sentence_years = [set(years(sentence)) for sentence in sentences]

    def _fields(self, sentences: Sequence[str]) -> None:
        clauses = _clauses(self.observations, sentences)
        texts = [
            (*_field_tokens(observation, sentences), clauses.get(place, []))
            for place, observation in enumerate(self.observations)
        ]
        self.vocabulary = _numbered(word for fields in texts for words in fields for word in words)
        self.weights = np.array([_weight(self.idf, token) for token in self.vocabulary], dtype=np.float32)
        self.fields = {
            name: TokenField([fields[number] for fields in texts], self.vocabulary, self.weights)
            for number, name in enumerate(FIELDS)
        }

        labels = [observation.label if self.row[i] >= 0 else "" for i, observation in enumerate(self.observations)]
        grams = [_character_ngrams(label) for label in labels]
        self._ngram_ids = _numbered(gram for group in grams for gram in sorted(group))
        self._ngrams = TokenField(grams, self._ngram_ids, np.ones(len(self._ngram_ids), dtype=np.float32))
        self._ngram_norm = np.sqrt(np.maximum(self._ngrams.mass, 1.0))

    def vector(self, words: Sequence[str]) -> FloatArray:
        """A question's tokens as a 0/1 vector over the report's vocabulary."""
        vector: FloatArray = np.zeros(len(self.vocabulary), dtype=np.float32)
        vector[[self.vocabulary[word] for word in words if word in self.vocabulary]] = 1.0
        return vector

    def positions(self, words: Sequence[str]) -> FloatArray:
        """Where in a question each observation's label or window is spoken of.

        Returns:
            The places in [0, 1] of the first and the last token that they share, -1 where they share none; shape
            ``(observations, 2)``.
        """
        known = [(place, self.vocabulary[word]) for place, word in enumerate(words) if word in self.vocabulary]
        result: FloatArray = np.full((len(self.observations), 2), -1.0, dtype=np.float32)
        if not known:
            return result
        shared = self.fields["label"].holds([token for _, token in known])
        places = np.array([place for place, _ in known], dtype=np.float32) / max(len(words) - 1, 1)
        some = shared.any(axis=1)
        result[some, 0] = places[shared.argmax(axis=1)[some]]
        result[some, 1] = places[::-1][shared[:, ::-1].argmax(axis=1)[some]]
        return result

    def label_similarity(self, question: str) -> FloatArray:
        """Cosine similarity in [0, 1] of a question's character 4-grams with each observation's row label."""
        grams = _character_ngrams(question)
        known = [self._ngram_ids[gram] for gram in grams if gram in self._ngram_ids]
        if not known:
            return np.zeros(len(self.observations), dtype=np.float32)
        asked: FloatArray = np.zeros(len(self._ngram_ids), dtype=np.float32)
        asked[known] = 1.0
        shared = self._ngrams.overlap(asked)
        result: FloatArray = np.minimum(shared / (self._ngram_norm * np.sqrt(len(grams))), 1.0)  # it rounds upwards
        return result

    def align(self, derivation: Derivation, question: str) -> tuple[int, ...]:
        """The observations that a derivation's figures were most likely read from, in the order of their use.

        A figure that carries its source is found by it. Any other (a history that was written by hand) is matched by
        value; among equal values the one whose texts share most with the question wins, the earliest on a tie.
        """
        found: list[int] = []
        for number in derivation.numbers:
            if number.source is not None and number.source in self.place_of:
                found.append(self.place_of[number.source])
                continue
            value = abs(Decimal(number.text.removesuffix("%")))
            equal = [i for i, o in enumerate(self.observations) if abs(o.quantity.value) == value]
            if equal:
                found.append(max(equal, key=lambda i: (self._affinity(i, question), -i)))
        return tuple(found)

    def _affinity(self, place: int, question: str) -> float:
        observation = self.observations[place]
        words = set(content_tokens(question))
        own = set(content_tokens(f"{observation.label} {observation.column_label}"))
        named = years(question)
        return (
            sum(self.idf(word) for word in words & own)
            + (3.0 if self.period[place] in named else 0.0)
            - (10.0 if observation.in_header else 0.0)
            + (1.0 if self.row[place] >= 0 else 0.0)
        )


_PART = re.compile(r"[,;(]|\b(?:and|or|compared|versus|while|but|to|from|of which|including)\b")


def _clauses(observations: Sequence[Observation], sentences: Sequence[str]) -> dict[int, list[str]]:
    """Of each figure of a sentence, the content tokens between it and the figures beside it.

    What stands between two figures is parted at its last comma, "and" and the like; without one it belongs to both.
    """
    by_sentence: dict[int, list[tuple[int, int, int]]] = {}
    found: dict[int, list[str]] = {}
    for place, observation in enumerate(observations):
        source = observation.source
        if isinstance(source, CellSource) or observation.in_header:
            continue
        by_sentence.setdefault(source.sentence, []).append((source.start, source.end, place))
    for number, unsorted in by_sentence.items():
        sentence, spans = sentences[number], sorted(unsorted)
        before = sentence[: spans[0][0]]
        followings = [*(start for start, _, _ in spans[1:]), None]
        for (_, end, place), following in zip(spans, followings, strict=True):
            gap = sentence[end:following]
            parts = [match.start() for match in _PART.finditer(gap)] if following is not None else []
            behind, ahead = (gap[: parts[-1]], gap[parts[-1] :]) if parts else (gap, gap)
            found[place] = content_tokens(f"{before} {behind}")
            before = ahead
    return found


def _written_forms(quantity: Quantity, *, has_gains: bool) -> Iterator[tuple[str, int]]:
    """The ways to write a figure, as variants: plain, as a percentage, and without the sign of a line without gains."""
    plain = quantity.text.removesuffix("%")
    yield plain, 0
    if quantity.unit == "percent":
        yield f"{plain}%", 1
    if plain.startswith("-") and not has_gains:
        yield plain[1:], 2


def _numbered(words: Iterable[str]) -> dict[str, int]:
    """A number for each distinct word, in their order."""
    return {word: number for number, word in enumerate(dict.fromkeys(words))}


def _floats(values: Sequence[Decimal]) -> DoubleArray:
    floats: DoubleArray = np.array([float(value) for value in values])
    return floats.clip(-_LARGEST, _LARGEST)


def _weight(idf: Idf, token: str) -> float:
    """A token's idf; a pair of tokens weighs as much as the lighter one."""
    return min(idf(part) for part in token.split("_"))


def token_pairs(words: list[str]) -> list[str]:
    """Bigrams of tokens: ``["net", "revenue"]`` gives ``["net_revenue"]``."""
    return [f"{first}_{second}" for first, second in pairwise(words)]


def _character_ngrams(text: str, size: int = 4) -> set[str]:
    """The character n-grams of a text's content words, with a space at both ends."""
    padded = f" {' '.join(content_tokens(text))} "
    return {padded[i : i + size] for i in range(max(len(padded) - size + 1, 0))}


def _field_tokens(observation: Observation, sentences: Sequence[str]) -> tuple[list[str], ...]:
    """The content tokens of each of :data:`FIELDS` but the last."""
    source = observation.source
    if isinstance(source, SentenceSource):
        sentence = sentences[source.sentence]
        left = content_tokens(sentence[: source.start])[-WINDOW:]
        right = content_tokens(sentence[source.end :])[:WINDOW]
        near = [*left[-NEAR:], *right[:NEAR]]
        phrases = [*token_pairs(left), *token_pairs(right)]
        return [*left, *right], [], content_tokens(sentence), left, right, near, phrases
    label = content_tokens(observation.label)
    column = content_tokens(observation.column_label)
    section = content_tokens(observation.section)
    return label, column, [*label, *column, *section], [], [], [], token_pairs(label)
