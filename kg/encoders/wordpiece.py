"""WordPiece, the tokenizer of uncased BERT (Wu et al., 2016; Devlin et al., 2019)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_PIECE = re.compile(r"\w+|[^\w\s]")
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
        self._word = lru_cache(maxsize=100_000)(self._split)

    def __call__(self, text: str) -> list[int]:
        """Returns the numbers of a text's pieces, without special ones."""
        plain = unicodedata.normalize("NFD", text.lower())
        plain = "".join(sign for sign in plain if unicodedata.category(sign) != "Mn").replace("_", " _ ")
        return [number for word in _PIECE.findall(plain) for number in self._word(word)]

    def _split(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST:
            return (self.unknown,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            ends = range(len(word), start, -1)
            prefix = "##" if start else ""
            end = next((end for end in ends if prefix + word[start:end] in self.numbers), None)
            if end is None:
                return (self.unknown,)
            pieces.append(self.numbers[prefix + word[start:end]])
            start = end
        return tuple(pieces)
