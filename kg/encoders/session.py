"""Sessions of onnxruntime, and the states of sequences that are read in batches.

>>> session = inference_session(Path("encoder.onnx").read_bytes())
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kg.arrays import FloatArray, IntArray

_S = TypeVar("_S", bound=Sized)


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
    length = max(len(numbers) for numbers in sequences)
    tokens = np.full((len(sequences), length), pad, dtype=np.int64)
    mask = np.zeros_like(tokens)
    for row, numbers in enumerate(sequences):
        tokens[row, : len(numbers)] = numbers
        mask[row, : len(numbers)] = 1
    return tokens, mask


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
