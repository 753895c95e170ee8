"""Inference of the encoder by onnxruntime.

>>> encoder = TextEncoder.read(Path("experiments/shipped/beam/encoder"))
>>> page = encoder.page(index.observations, index.sentences)     # once a report
>>> question = encoder.question(["what were net sales in 2009?"])  # once a turn
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kg.arrays import FloatArray, IntArray, read_arrays
from kg.encoders.heads import WIDTH, EncodedPage, EncodedQuestion, Heads
from kg.encoders.sequences import TokenSequence, page_sequences, question_sequence
from kg.encoders.session import WordPiece, inference_session, mean_vectors, padded, states_of
from kg.errors import DataError
from kg.reports import Observation

FILES = ("encoder.onnx", "heads.npz", "vocab.txt")
"""The files of an encoder's folder: the transformer with int8 weights, the heads, and the pieces by number."""

PAGES = "pages.txt"
"""A further file: the keys of the pages that the encoder was fitted on, a line each."""

BATCH_TOKENS = 512
TEXT_TOKENS = 64
"""Tokens of a text that :meth:`TextEncoder.vectors` reads."""


class TextEncoder:
    """The transformer, its tokenizer and its heads; it may be shared by threads, copied and pickled.

    Args:
        files: The contents of :data:`FILES`, by name.

    Raises:
        DataError: A file is missing or damaged.
    """

    def __init__(self, files: dict[str, bytes]) -> None:
        missing = [name for name in FILES if name not in files]
        if missing:
            raise DataError(f"an encoder must have {', '.join(FILES)}; {missing[0]} is missing")
        self.files = {name: files[name] for name in (*FILES, PAGES) if name in files}
        self.wordpiece = WordPiece(self.files["vocab.txt"].decode("utf-8").split("\n")[:-1])
        self.heads = _heads(self.files["heads.npz"])

    @classmethod
    def read(cls, folder: Path) -> TextEncoder:
        """Reads the files of a folder; the record of the pages may be missing."""
        try:
            more = [PAGES] if (folder / PAGES).is_file() else []
            return cls({name: (folder / name).read_bytes() for name in (*FILES, *more)})
        except OSError as error:
            raise DataError(f"the encoder cannot be read: {error}", file=str(folder)) from error

    def write(self, folder: Path) -> None:
        """Writes the files into a folder, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)

    @cached_property
    def pages(self) -> frozenset[str]:
        """The keys of the pages that it was fitted on; empty where they are not recorded."""
        return frozenset(self.files.get(PAGES, b"").decode("utf-8").split())

    def with_pages(self, pages: Iterable[str]) -> TextEncoder:
        """Returns the encoder with a record of the pages that it was fitted on."""
        lines = "".join(f"{page}\n" for page in sorted(set(pages)))
        return TextEncoder({**self.files, PAGES: lines.encode()})

    @cached_property
    def sha256(self) -> str:
        """The hash of the weights."""
        digest = hashlib.sha256()
        for name in FILES:
            digest.update(self.files[name])
        return digest.hexdigest()

    def page(self, observations: Sequence[Observation], sentences: Sequence[str]) -> EncodedPage:
        """Returns the vectors of a report's figures."""
        sequences = sorted(page_sequences(observations, sentences, self.wordpiece), key=len)
        if not sequences:
            nothing = np.zeros((0, WIDTH), dtype=np.float32)
            return self.heads.page(nothing, (), len(observations), nothing, np.zeros((0, 1), dtype=np.int64))
        states = states_of(self._run, sequences, tokens=BATCH_TOKENS)
        marks = [state[sorted(one.figures)] for one, state in zip(sequences, states, strict=True)]
        order = [one.figures[mark] for one in sequences for mark in sorted(one.figures)]
        every = np.concatenate(states), _near(sequences)
        return self.heads.page(np.concatenate(marks), order, len(observations), *every)

    def question(self, questions: Sequence[str]) -> EncodedQuestion:
        """Returns the states of the last of a conversation's questions."""
        sequence, places = question_sequence(questions, self.wordpiece)
        return self.heads.question(self._run([sequence])[0], places)

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """Returns one vector of length 1 for each text: the mean of its tokens' states; shape ``(texts, WIDTH)``."""
        pieces = [self.wordpiece.enclosed(text, TEXT_TOKENS) for text in texts]
        sequences = [TokenSequence(tokens, [0] * len(tokens)) for tokens in pieces]
        return mean_vectors(states_of(self._run, sequences, tokens=BATCH_TOKENS)).reshape(-1, WIDTH)

    @cached_property
    def _session(self) -> Any:
        return inference_session(self.files["encoder.onnx"])

    def _run(self, sequences: Sequence[TokenSequence]) -> FloatArray:
        """Returns the states of some sequences, padded; shape ``(sequences, longest, WIDTH)``."""
        tokens, mask = padded([one.tokens for one in sequences], 0)
        specials, _ = padded([one.specials for one in sequences], 0)
        states: FloatArray = self._session.run(
            None, {"tokens": tokens, "specials": specials, "mask": mask.astype(bool)}
        )[0]
        return states

    def __deepcopy__(self, memo: dict[int, Any]) -> TextEncoder:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return TextEncoder, (self.files,)


def _heads(content: bytes) -> Heads:
    try:
        stored = read_arrays(content)
        weights = {name: array.astype(np.float32) for name, array in stored.items() if name != "forms"}
        return Heads([str(template) for template in stored["forms"]], weights)
    except (DataError, ValueError, KeyError) as error:
        raise DataError(f"the encoder's heads cannot be read: {error}", place="heads.npz") from error


def _near(sequences: Sequence[TokenSequence]) -> IntArray:
    """The tokens that speak of each figure, numbered through all sequences; shape ``(figures, most)``."""
    found: list[list[int]] = []
    begin = 0
    for one in sequences:
        found += [[begin + place for place in places] for places in one.near()]
        begin += len(one.tokens)
    most = max(map(len, found), default=1)
    padded = [[*places, *[places[-1]] * (most - len(places))] for places in found]
    return np.array(padded, dtype=np.int64).reshape(-1, most)
