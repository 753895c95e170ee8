"""Word pieces (Wu et al., 2016; Devlin et al., 2019) by the library ``tokenizers``.

>>> word_pieces()("Who lent the money?")
[2044, 15311, 2000, 2773, 1033]
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

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

    def enclosed(self, text: str, most: int) -> list[int]:
        """Returns the numbers of a text's first pieces, at most so many, between the special ones."""
        return [self.cls, *self(text)[:most], self.sep]


@cache
def vocabulary() -> tuple[str, ...]:
    """Returns the pieces of uncased BERT in the order of their numbers."""
    pieces = gzip.decompress(Path(__file__).with_name("vocabulary.txt.gz").read_bytes()).decode("utf-8")
    return tuple(pieces.rstrip("\n").split("\n"))


@cache
def word_pieces() -> WordPiece:
    """Returns the tokenizer of MPNet, which has four special pieces before those of BERT."""
    return WordPiece(["<s>", "<pad>", "</s>", "<unk>", *vocabulary()], begin="<s>", end="</s>")
