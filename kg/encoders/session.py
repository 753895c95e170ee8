"""Transformers as sessions of onnxruntime: pieces of words, and sequences in batches.

>>> word_pieces()("Who lent the money?")
[2044, 15311, 2000, 2773, 1033]

Word pieces (Wu et al., 2016; Devlin et al., 2019) are those of the library ``tokenizers``.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence, Sized
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from kg.arrays import FloatArray, IntArray

_PIECE = r"[\p{L}\p{N}]+|[^\p{L}\p{N}\s]"
_LONGEST = 60
"""Characters of a word at the most; a longer word is unknown."""

_S = TypeVar("_S", bound=Sized)


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

    def words(self, text: str) -> list[tuple[str, int]]:
        """Returns the words of a text, each with the number of its pieces."""
        encoding = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        pieces = groupby(zip(encoding.word_ids, encoding.offsets, strict=True), key=itemgetter(0))
        words = (list(word) for _, word in pieces)
        return [(text[word[0][1][0] : word[-1][1][1]], len(word)) for word in words]

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


def inference_session(graph: bytes, arrays: Mapping[str, NDArray[Any]] | None = None) -> Any:
    """Returns a session of onnxruntime, of one thread.

    Args:
        graph: The content of its file.
        arrays: Those that the graph names and does not hold.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if arrays:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(one)) for one in arrays.values()]
        options.add_external_initializers(list(arrays), values)
        # its fusion of a sum and a normalization is five times as slow as the two
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def batches(sequences: Sequence[Sized], size: int = 1 << 20, tokens: int = 1 << 30) -> list[list[int]]:
    """Returns the places of sequences in batches, those of about the same length together.

    Args:
        sequences: The sequences.
        size: Sequences of a batch at the most.
        tokens: Tokens of a batch of several sequences at the most, with those that fill the shorter ones.
    """
    found: list[list[int]] = []
    for place in sorted(range(len(sequences)), key=lambda place: len(sequences[place])):
        if not found or len(found[-1]) == size or len(sequences[place]) * (len(found[-1]) + 1) > tokens:
            found.append([])
        found[-1].append(place)
    return found


def padded(sequences: Sequence[Sequence[int]], pad: int) -> tuple[IntArray, IntArray]:
    """Returns the pieces of sequences, and 1 where there is one; both of shape ``(sequences, longest)``.

    Args:
        sequences: The numbers of their pieces.
        pad: The number of the piece that fills the shorter ones.
    """
    lengths = np.array([len(numbers) for numbers in sequences])
    longest = int(lengths.max())
    tokens = np.array([[*numbers, *[pad] * (longest - len(numbers))] for numbers in sequences], dtype=np.int64)
    return tokens, (np.arange(longest) < lengths[:, None]).astype(np.int64)


def states_of(
    run: Callable[[Sequence[_S]], FloatArray], sequences: Sequence[_S], size: int = 1 << 20, tokens: int = 1 << 30
) -> list[FloatArray]:
    """Returns for each sequence the states of its tokens.

    Args:
        run: Returns the states of some sequences, padded to the longest.
        sequences: The sequences.
        size: See :func:`batches`.
        tokens: See :func:`batches`.
    """
    states: dict[int, FloatArray] = {}
    for batch in batches(sequences, size, tokens):
        rows = run([sequences[place] for place in batch])
        states.update((place, row[: len(sequences[place])]) for place, row in zip(batch, rows, strict=True))
    return [states[place] for place in range(len(sequences))]


def mean_vectors(states: Sequence[FloatArray]) -> FloatArray:
    """Returns for each text the mean of its tokens' states as a vector of length 1."""
    means = [own.mean(axis=0) for own in states]
    return np.array([mean / np.linalg.norm(mean) for mean in means], dtype=np.float32)
