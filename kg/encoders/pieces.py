"""The word pieces that the transformer reads.

>>> word_pieces()("Who lent the money?")
[2044, 15311, 2000, 2773, 1033]
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from kg.arrays import IntArray
from kg.encoders.wordpiece import WordPiece


@cache
def vocabulary() -> tuple[str, ...]:
    """Returns the pieces of uncased BERT in the order of their numbers."""
    pieces = gzip.decompress(Path(__file__).with_name("vocabulary.txt.gz").read_bytes()).decode("utf-8")
    return tuple(pieces.rstrip("\n").split("\n"))


@cache
def word_pieces() -> WordPiece:
    """Returns the tokenizer of MPNet, which has four special pieces before those of BERT."""
    return WordPiece(["<s>", "<pad>", "</s>", "<unk>", *vocabulary()], begin="<s>", end="</s>")


def batches(sequences: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    """Returns the places of sequences in batches, those of about the same length together."""
    order = sorted(range(len(sequences)), key=lambda place: len(sequences[place]))
    return [order[first : first + size] for first in range(0, len(order), size)]


def padded(sequences: Sequence[Sequence[int]], pad: int) -> tuple[IntArray, IntArray]:
    """Returns the pieces of sequences, and 1 where there is one; both of shape ``(sequences, longest)``.

    Args:
        sequences: The numbers of their pieces.
        pad: The number of the piece that fills the shorter ones.
    """
    length = max(len(numbers) for numbers in sequences)
    tokens = np.full((len(sequences), length), pad, dtype=np.int64)
    mask = np.zeros_like(tokens)
    for row, numbers in enumerate(sequences):
        tokens[row, : len(numbers)] = numbers
        mask[row, : len(numbers)] = 1
    return tokens, mask
