"""The transformer as a session of onnxruntime, from a graph without weights (``network.onnx``, built by onnx).

>>> Network(quantized_file(Path("reader.npz"))).states([[0, 2044, 15311, 2]])[0].shape
(4, 768)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kg.arrays import FloatArray
from kg.encoders.installed import FIRST_POSITION, relative_buckets
from kg.encoders.pieces import padded, word_pieces

GRAPH = Path(__file__).with_name("network.onnx")


class Network:
    """The transformer, which gives each piece of a sequence its state.

    Args:
        arrays: Those of :func:`kg.encoders.quantized.quantized`.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._words, self._positions = arrays["words"], arrays["positions"][FIRST_POSITION:]
        self._relative = arrays["relative"]
        # the others are those of the embeddings, of distances and of the head
        inside = {name: values for name, values in arrays.items() if "." in name}
        self._session = inference_session(GRAPH.read_bytes(), inside)

    def states(self, sequences: Sequence[Sequence[int]]) -> FloatArray:
        """Returns the states of sequences that are read at once; shape ``(sequences, longest, WIDTH)``."""
        tokens, mask = padded(sequences, word_pieces().numbers["<pad>"])
        length = tokens.shape[1]
        given = {
            "embeddings": self._words[tokens].astype(np.float32) + self._positions[:length],
            "relative": np.ascontiguousarray(self._relative[relative_buckets(length)].transpose(2, 0, 1)[None]),
            "mask": mask.astype(np.int32),
        }
        found: FloatArray = self._session.run(None, given)[0]
        return found


def inference_session(graph: bytes, arrays: Mapping[str, NDArray[Any]] | None = None, threads: int = 1) -> Any:
    """Returns a session of onnxruntime.

    Args:
        graph: The content of its file.
        arrays: Those that the graph names and does not hold.
        threads: Threads of one inference.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    if arrays:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(one)) for one in arrays.values()]
        options.add_external_initializers(list(arrays), values)
        # its fusion of a sum and a normalization is five times as slow as the two
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
