"""The transformer with a low-rank change of its matrices (Hu et al., 2022), fitted for one task.

>>> model = LowRankTransformer(installed_weights(), read_arrays(FILE))
>>> [states.shape for states in model.states([pieces])]
[(23, 384)]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kg.arrays import FloatArray, IntArray
from kg.transformer.weights import Pieces, batches, inference_session, padded

BATCH = 16


class LowRankTransformer:
    """The changed transformer; it reads sequences of pieces.

    Args:
        content: The content of the weights that are changed.
        fitted: The fitted arrays: ``down_0`` and ``up_0`` of the first matrix, and so on, and ``places``, by which
            :func:`stored_matrices` finds the matrices. Others, such as those of a head, are kept as :attr:`head`.
    """

    def __init__(self, content: bytes, fitted: Mapping[str, FloatArray]) -> None:
        self._content = content
        self._places = np.asarray(fitted["places"], dtype=np.int64)
        arrays = {name: np.asarray(values, dtype=np.float32) for name, values in fitted.items() if name != "places"}
        self._changes = {name: one for name, one in arrays.items() if name.startswith(("down_", "up_"))}
        self.head = {name: one for name, one in arrays.items() if name not in self._changes}

    def states(self, sequences: Sequence[Pieces]) -> list[FloatArray]:
        """Returns the states of each sequence; shape ``(longest in its batch, WIDTH)``."""
        found: dict[int, FloatArray] = {}
        for batch in batches(sequences, BATCH):
            states = self._session.run(None, padded([sequences[place] for place in batch]))[0]
            found.update(zip(batch, states, strict=True))
        return [found[place] for place in range(len(sequences))]

    @cached_property
    def _session(self) -> Any:
        return inference_session(self._changed())

    def _changed(self) -> bytes:
        """Returns the weights with the changed matrices, of 8 bits a number and a scale for each column."""
        content = bytearray(self._content)
        matrices = stored_matrices(self._content, self._places)
        for number, (matrix, place) in enumerate(zip(matrices, self._places.tolist(), strict=True)):
            if f"down_{number}" not in self._changes:
                continue
            whole = matrix + self._changes[f"down_{number}"] @ self._changes[f"up_{number}"]
            scales = np.maximum(np.abs(whole).max(axis=0), 1e-8) / 127
            for offset, values in ((place[0], np.round(whole / scales).astype(np.int8)), (place[3], scales)):
                written = values.tobytes()
                content[offset : offset + len(written)] = written
        return bytes(content)


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
