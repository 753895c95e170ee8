"""The transformer with a low-rank change of its matrices (Hu et al., 2022) and a head, fitted for one task.

>>> class Reader(LowRankTransformer):
...     file = Path("reader.npz")
>>> Reader.load().states([[0, 2044, 15311, 2]])[0].shape
(4, 768)

It is a session of onnxruntime from a graph without weights (``network.onnx``, built by onnx).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from kg.arrays import FloatArray
from kg.encoders.pieces import word_pieces
from kg.encoders.session import inference_session, padded, states_of
from kg.encoders.weights import WIDTH, Arrays, installed_archive, quantized_file

GRAPH = Path(__file__).with_name("network.onnx")

BATCH = 8

FIRST_POSITION = 2
"""The row of the first piece in the table of positions."""

BUCKETS, FURTHEST = 32, 128
"""Buckets of the distances between two pieces, and the distance from which all are in one bucket."""


class LowRankTransformer:
    """A reader by the changed transformer; a subclass has the file of the fitted arrays.

    Attributes:
        file: The fitted arrays.
    """

    file: ClassVar[Path]

    @classmethod
    @cache
    def load(cls) -> Self | None:
        """Returns the reader, or ``None`` if the weights of the transformer are not installed."""
        return cls() if installed_archive() is not None else None

    @cached_property
    def arrays(self) -> Arrays:
        """The arrays of :func:`kg.encoders.weights.quantized`, those of the head among them.

        Raises:
            DataError: The weights are others than expected.
        """
        return quantized_file(self.file)

    def states(self, sequences: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Returns for each sequence the states of its pieces, shape ``(pieces, WIDTH)``.

        Args:
            sequences: The numbers of their pieces.

        Raises:
            DataError: The weights are others than expected.
        """
        return states_of(self._run, sequences, size=BATCH)

    def span_scores(self, sequences: Sequence[Sequence[int]], spans: Sequence[tuple[int, int]]) -> FloatArray:
        """Returns for each sequence the score of a span by the head.

        Args:
            sequences: The numbers of their pieces.
            spans: The first and last piece of the span of each sequence.

        Raises:
            DataError: The weights are others than expected.
        """
        ends = [states[[first, last, 0]] for states, (first, last) in zip(self.states(sequences), spans, strict=True)]
        joined = np.array(ends, dtype=np.float32).reshape(-1, 3 * WIDTH)
        hidden = np.maximum(joined @ self.arrays["hidden"] + self.arrays["hidden_bias"], 0)
        scores: FloatArray = hidden @ self.arrays["out"] + self.arrays["out_bias"]
        return scores

    @cached_property
    def _session(self) -> Any:
        # the others are those of the embeddings, of distances and of the head
        inside = {name: values for name, values in self.arrays.items() if "." in name}
        return inference_session(GRAPH.read_bytes(), inside)

    def _run(self, sequences: Sequence[Sequence[int]]) -> FloatArray:
        tokens, mask = padded(sequences, word_pieces().numbers["<pad>"])
        length = tokens.shape[1]
        places = self.arrays["positions"][FIRST_POSITION : FIRST_POSITION + length]
        relative = self.arrays["relative"][relative_buckets(length)].transpose(2, 0, 1)[None]
        given = {
            "embeddings": self.arrays["words"][tokens].astype(np.float32) + places,
            "relative": np.ascontiguousarray(relative),
            "mask": mask.astype(np.int32),
        }
        states: FloatArray = self._session.run(None, given)[0]
        return states


def relative_buckets(length: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Returns the bucket of the distance from each piece to each other; shape ``(length, length)``.

    Half of the buckets are of later pieces. Half of those have one distance each, the others more and more of them.
    """
    places = np.arange(length)
    distances = places[None, :] - places[:, None]
    near = BUCKETS // 4
    steps = np.log(np.maximum(abs(distances), 1) / near) / np.log(FURTHEST / near) * near
    far = np.minimum(near + steps.astype(np.int64), BUCKETS // 2 - 1)
    buckets: np.ndarray[tuple[int, int], np.dtype[np.int64]] = np.where(distances > 0, BUCKETS // 2, 0)
    return buckets + np.where(abs(distances) < near, abs(distances), far)
