"""The transformer with a low-rank change of its matrices (Hu et al., 2022) and a head for spans, fitted for one task.

>>> model = LowRankTransformer.load(FILE)
>>> model.scores([pieces], [[(9, 10), (14, 14)]])
[array([ 3.1, -4.2])]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from kg.arrays import FloatArray
from kg.encoders.installed import WIDTH, installed_parts
from kg.encoders.network import Network
from kg.encoders.pieces import batches
from kg.encoders.quantized import Arrays, quantized_file

BATCH = 8


class LowRankTransformer:
    """The changed transformer; it reads sequences of pieces.

    Args:
        arrays: Gives the arrays of :func:`kg.encoders.quantized.quantized`, when something is read first.
    """

    def __init__(self, arrays: Callable[[], Arrays]) -> None:
        self._given = arrays

    @staticmethod
    @cache
    def load(path: Path) -> LowRankTransformer | None:
        """Returns the transformer with the fitted arrays of a file, or ``None`` if its weights are not installed."""
        return LowRankTransformer(partial(quantized_file, path)) if installed_parts() is not None else None

    def scores(
        self, sequences: Sequence[Sequence[int]], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[FloatArray]:
        """Returns for each sequence the score of each of its spans.

        Args:
            sequences: The numbers of their pieces.
            spans: The first and last piece of each span, for each sequence.

        Raises:
            DataError: The weights are others than expected, or the fitted arrays do not fit them.
        """
        return [self._head(row, own) for row, own in zip(self.states(sequences), spans, strict=True)]

    def states(self, sequences: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Returns for each sequence the states of its pieces, shape ``(pieces, WIDTH)``.

        Args:
            sequences: The numbers of their pieces.

        Raises:
            DataError: The weights are others than expected, or the fitted arrays do not fit them.
        """
        found: dict[int, FloatArray] = {}
        for batch in batches(sequences, BATCH):
            states = self._network.states([sequences[place] for place in batch])
            found.update((place, row[: len(sequences[place])]) for place, row in zip(batch, states, strict=True))
        return [found[place] for place in range(len(sequences))]

    def _head(self, states: FloatArray, spans: Sequence[tuple[int, int]]) -> FloatArray:
        if not spans:
            return np.zeros(0, dtype=np.float32)
        firsts, lasts = np.array(spans).T
        whole = np.broadcast_to(states[0], (len(spans), WIDTH))
        joined = np.concatenate([states[firsts], states[lasts], whole], axis=1)
        hidden = np.maximum(joined @ self.arrays["hidden"] + self.arrays["hidden_bias"], 0)
        found: FloatArray = hidden @ self.arrays["out"] + self.arrays["out_bias"]
        return found

    @cached_property
    def arrays(self) -> Arrays:
        """The arrays, those of the head among them."""
        return self._given()

    @cached_property
    def _network(self) -> Network:
        return Network(self.arrays)


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
