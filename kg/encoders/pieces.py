"""Word pieces (Wu et al., 2016; Devlin et al., 2019) by the library ``tokenizers``, and batches of sequences.

>>> word_pieces()("Who lent the money?")
[2044, 15311, 2000, 2773, 1033]
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from kg.arrays import IntArray

_PIECE = r"[\p{L}\p{N}]+|[^\p{L}\p{N}\s]"
_LONGEST = 60
"""Characters of a word at the most; a longer word is unknown."""


class WordPiece:
    """Numbers of the pieces of a text.

    Args:
        vocabulary: The pieces in the order of their numbers, ``[UNK]`` among them.
        begin: The piece before a text.
        end: The piece after a text.
    """

    def __init__(self, vocabulary: Sequence[str], begin: str = "[CLS]", end: str = "[SEP]") -> None:
        self.numbers = {word: number for number, word in enumerate(vocabulary)}
        self.cls, self.sep, self.unknown = (self.numbers[name] for name in (begin, end, "[UNK]"))
        self.colon = self.numbers[":"]
        model = models.WordPiece(self.numbers, unk_token="[UNK]", max_input_chars_per_word=_LONGEST)  # noqa: S106
        self._tokenizer = Tokenizer(model)
        self._tokenizer.normalizer = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False)
        self._tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(_PIECE), "removed", invert=True)

    def __call__(self, text: str) -> list[int]:
        """Returns the numbers of a text's pieces, without special ones."""
        plain = text.encode("utf-8", "replace").decode()
        return list(self._tokenizer.encode(plain, add_special_tokens=False).ids)


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
