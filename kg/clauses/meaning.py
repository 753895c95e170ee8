"""Vectors of sentences by a pretrained encoder, all-MiniLM-L6-v2, which was fitted on pairs of questions and answers.

>>> encoder = SentenceEncoder.load()
>>> question, sentence = encoder.vectors(["Who lent Greyfen the money?", "Halloran is Greyfen's creditor."])
>>> round(float(question @ sentence), 2)
0.48

The weights are a package of the extra ``news``. Without it, :meth:`SentenceEncoder.load` returns ``None``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from kg.arrays import FloatArray
from kg.transformer import WIDTH, Pieces, inference_session, installed_weights, padded, word_pieces

TOKENS = 128
"""Tokens of a text that are read."""

BATCH = 16

MOST_KEPT = 50_000
"""Vectors that are kept, about 75 MB; then all are forgotten."""


class SentenceEncoder:
    """The encoder.

    Args:
        content: The content of the weights.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._wordpiece = word_pieces()
        self._known: dict[str, FloatArray] = {}

    @staticmethod
    @cache
    def load() -> SentenceEncoder | None:
        """Returns the installed encoder, or ``None`` if there is none."""
        content = installed_weights()
        return SentenceEncoder(content) if content is not None else None

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """Returns one vector of length 1 for each text; shape ``(texts, WIDTH)``. A text is read once."""
        if len(self._known) > MOST_KEPT:
            self._known.clear()
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        pieces = {
            text: [self._wordpiece.cls, *self._wordpiece(text)[: TOKENS - 2], self._wordpiece.sep] for text in missing
        }
        missing.sort(key=lambda text: len(pieces[text]))
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            for text, vector in zip(batch, self._run([pieces[text] for text in batch]), strict=True):
                self._known[text] = vector
        return np.array([self._known[text] for text in texts], dtype=np.float32).reshape(-1, WIDTH)

    def _run(self, sequences: Sequence[Sequence[int]]) -> FloatArray:
        given = padded([Pieces(one) for one in sequences])
        states = self._session.run(None, given)[0] * given["attention_mask"][:, :, None]
        means = states.sum(axis=1)
        found: FloatArray = means / np.linalg.norm(means, axis=1, keepdims=True)
        return found

    @cached_property
    def _session(self) -> Any:
        return inference_session(self._content)
