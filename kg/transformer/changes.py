"""The transformer with a low-rank change of its matrices (Hu et al., 2022) and a head for spans, fitted for one task.

>>> model = LowRankTransformer(installed_weights(), read_arrays(FILE))
>>> model.scores([pieces], [[(9, 10), (14, 14)]])
[array([ 3.1, -4.2])]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from kg.arrays import FloatArray, IntArray, read_arrays
from kg.transformer.weights import WIDTH, Pieces, batches, inference_session, installed_weights, padded

BATCH = 16


class LowRankTransformer:
    """The changed transformer; it reads sequences of pieces.

    Args:
        content: The content of the weights that are changed.
        fitted: The fitted arrays: ``down_0`` and ``up_0`` of the first matrix, and so on, and ``places``, by which
            :func:`stored_matrices` finds the matrices; ``hidden`` and ``out`` of the head, and their biases.
    """

    def __init__(self, content: bytes, fitted: Mapping[str, FloatArray]) -> None:
        self._content = content
        self._places = np.asarray(fitted["places"], dtype=np.int64)
        self._fitted = {
            name: np.asarray(values, dtype=np.float32) for name, values in fitted.items() if name != "places"
        }

    @staticmethod
    @cache
    def load(path: Path) -> LowRankTransformer | None:
        """Returns the transformer with the fitted arrays of a file, or ``None`` if its weights are not installed."""
        content = installed_weights()
        return LowRankTransformer(content, read_arrays(path)) if content is not None else None

    def scores(self, sequences: Sequence[Pieces], spans: Sequence[Sequence[tuple[int, int]]]) -> list[FloatArray]:
        """Returns for each sequence the score of each of its spans.

        Args:
            sequences: The sequences.
            spans: The first and last piece of each span, for each sequence.
        """
        found: dict[int, FloatArray] = {}
        for batch in batches(sequences, BATCH):
            states = self._session.run(None, padded([sequences[place] for place in batch]))[0]
            found.update((place, self._head(row, spans[place])) for place, row in zip(batch, states, strict=True))
        return [found[place] for place in range(len(sequences))]

    def _head(self, states: FloatArray, spans: Sequence[tuple[int, int]]) -> FloatArray:
        if not spans:
            return np.zeros(0, dtype=np.float32)
        firsts, lasts = np.array(spans).T
        whole = np.broadcast_to(states[0], (len(spans), WIDTH))
        joined = np.concatenate([states[firsts], states[lasts], whole], axis=1)
        hidden = np.maximum(joined @ self._fitted["hidden"] + self._fitted["hidden_bias"], 0)
        found: FloatArray = hidden @ self._fitted["out"] + self._fitted["out_bias"]
        return found

    @cached_property
    def _session(self) -> Any:
        return inference_session(self._changed())

    def _changed(self) -> bytes:
        """Returns the weights with the changed matrices, of 8 bits a number and a scale for each column."""
        content = bytearray(self._content)
        matrices = stored_matrices(self._content, self._places)
        for number, (matrix, place) in enumerate(zip(matrices, self._places.tolist(), strict=True)):
            if f"down_{number}" not in self._fitted:
                continue
            whole = matrix + self._fitted[f"down_{number}"] @ self._fitted[f"up_{number}"]
            scales = np.maximum(np.abs(whole).max(axis=0), 1e-8) / 127
            for offset, values in ((place[0], np.round(whole / scales).astype(np.int8)), (place[3], scales)):
                written = values.tobytes()
                content[offset : offset + len(written)] = written
        return bytes(content)


class TransformerReader:
    """A reader by a fitted transformer; a subclass has the file of the fitted arrays.

    Args:
        model: The transformer with its low-rank change and its head.

    Attributes:
        file: The fitted arrays.
    """

    file: ClassVar[Path]

    def __init__(self, model: LowRankTransformer) -> None:
        self.model = model

    @classmethod
    def load(cls) -> Self | None:
        """Returns the reader, or ``None`` if the weights of the transformer are not installed."""
        model = LowRankTransformer.load(cls.file)
        return cls(model) if model is not None else None


def stored_matrices(content: bytes, places: IntArray) -> list[FloatArray]:
    """Returns the matrices of the transformer: in each layer query, key, value, output and two of the feed-forward.

    Args:
        content: The weights.
        places: For each matrix its offset in the content, its rows, its columns and the offset of its scales.
    """
    found = []
    for offset, rows, columns, scales in places.tolist():
        stored = np.frombuffer(content, np.int8, rows * columns, offset).reshape(rows, columns)
        found.append(stored.astype(np.float32) * np.frombuffer(content, np.float32, columns, scales))
    return found
