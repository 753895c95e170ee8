"""The transformer of readers, all-mpnet-base-v2 in 8 bits, with a low-rank change of its matrices (Hu et al., 2022).

>>> class Reader(LowRankTransformer):
...     file = Path("reader.npz")
>>> Reader.load().states([[0, 2044, 15311, 2]])[0].shape
(4, 768)

The archive of the weights (Song et al., 2020; Reimers and Gurevych, 2019) is in the cache
(``experiments.lms.fetch_reader``). The weights with the change of a reader are quantized once and kept there too. A
matrix has a scale for each column. A few inputs of a matrix are much larger than the others, always the same ones, as
the normalization before it makes them so. They are divided, and their rows multiplied, by the square root of how much
larger they are (Xiao et al., 2023). The session is from a graph without weights (``network.onnx``, built by onnx).
"""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kg.arrays import FloatArray, IntArray, read_arrays
from kg.encoders.session import inference_session, mean_vectors, padded, states_of, word_pieces
from kg.errors import DataError
from kg.files import UNREADABLE, cache_folder, replacing

Arrays = Mapping[str, NDArray[Any]]

ARCHIVE = "all-mpnet-base-v2.zip"
"""The archive of the weights."""

SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
"""The hash of the weights; other weights are refused."""

LAYERS, HEADS, WIDTH = 12, 12, 768

FIRST_POSITION = 2
"""The row of the first piece in the table of positions."""

BUCKETS, FURTHEST = 32, 128
"""Buckets of the distances between two pieces, and the distance from which all are in one bucket."""

BATCH = 8

KEPT = 4
"""Quantized files in the cache, those that were written last; each has about 140 MB."""

_MEMBER = "all-mpnet-base-v2/model.safetensors"
_IN_LAYER = (*(f"attention.attn.{name}" for name in "qkvo"), "intermediate.dense", "output.dense")
_NORMS = ("attention", "output")

_LAYOUT = "1"
"""Another one for another layout of the arrays."""

_DEVIATIONS = 4
"""Standard deviations within which the inputs of a matrix are expected."""


def installed_archive() -> Path | None:
    """Returns the archive in the cache, or ``None`` if it is not there."""
    archive = cache_folder() / "models" / ARCHIVE
    return archive if archive.is_file() else None


def installed_weights() -> dict[str, FloatArray]:
    """Returns the weights. Reading takes seconds.

    Returns:
        A row for each piece (``words``) and each position (``positions``), and the addition to the attention of each
        head for each bucket of distances (``relative``). ``norm_N.weight`` and ``norm_N.bias`` are of the embeddings,
        and in each layer of attention and feed-forward. ``linear_N.matrix``, with a row for each input, and
        ``linear_N.bias`` are in each layer query, key, value, output and the two of the feed-forward.

    Raises:
        DataError: They are not installed, or are others.
    """
    path = installed_archive()
    if path is None:
        raise DataError("the weights of the transformer are not installed", file=ARCHIVE)
    try:
        with zipfile.ZipFile(path) as archive:
            content = archive.read(_MEMBER)
    except UNREADABLE as error:
        raise DataError(f"the weights of the transformer cannot be read: {error}", file=str(path)) from error
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise DataError("the weights of the transformer are others than expected", file=str(path))
    tensors = _tensors(content)
    weights = {
        "words": tensors["embeddings.word_embeddings.weight"],
        "positions": tensors["embeddings.position_embeddings.weight"],
        "relative": tensors["encoder.relative_attention_bias.weight"],
    }
    layers = [f"encoder.layer.{layer}" for layer in range(LAYERS)]
    for number, name in enumerate(("embeddings", *(f"{own}.{part}" for own in layers for part in _NORMS))):
        weights |= {f"norm_{number}.{part}": tensors[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias")}
    for number, name in enumerate(f"{own}.{part}" for own in layers for part in _IN_LAYER):
        weights |= {
            f"linear_{number}.matrix": tensors[f"{name}.weight"].T,
            f"linear_{number}.bias": tensors[f"{name}.bias"],
        }
    return weights


def _tensors(content: bytes) -> dict[str, FloatArray]:
    """Returns the tensors of 32 bits in the content of a file of safetensors."""
    (size,) = struct.unpack_from("<Q", content)
    begin = 8 + size
    found = {}
    for name, record in json.loads(content[8:begin]).items():
        if record.get("dtype") == "F32":
            first, last = record["data_offsets"]
            values = np.frombuffer(content, np.float32, (last - first) // 4, begin + first)
            found[name] = values.reshape(record["shape"])
    return found


def quantized_file(fitted: Path | None) -> Arrays:
    """Returns the arrays for a file of fitted ones, or without any, from the cache if they are there.

    Without a cache that can be written they are only in memory.

    Raises:
        DataError: The weights are not installed or others.
    """
    content = b"" if fitted is None else fitted.read_bytes()
    key = hashlib.sha256(b"\n".join((_LAYOUT.encode(), SHA256.encode(), content))).hexdigest()
    file = cache_folder() / "transformers" / f"{key[:32]}.npz"
    with suppress(DataError):
        return read_arrays(file, mapped=True)
    arrays = quantized(installed_weights(), read_arrays(content) if content else {})
    with suppress(DataError), replacing(file) as opened:
        np.savez(opened, allow_pickle=False, **arrays)
    for old in sorted(file.parent.glob("*.npz"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
        with suppress(OSError):
            old.unlink()
    return arrays


def quantized(weights: Arrays, fitted: Arrays) -> Arrays:
    """Returns the arrays of the network, of its embeddings and of its head.

    Args:
        weights: The weights.
        fitted: For the matrix N that is changed ``down_N`` and ``up_N``, whose product is added; all others are of the
            head. Their names have no dots, and those of the network do.
    """
    arrays = {name: values for name, values in weights.items() if not name.startswith("linear_")}
    arrays |= {
        name: values.astype(np.float32) for name, values in fitted.items() if not name.startswith(("down_", "up_"))
    }
    arrays["words"] = arrays["words"].astype(np.float16)

    def changed(number: int) -> FloatArray:
        matrix: FloatArray = weights[f"linear_{number}.matrix"]
        if f"down_{number}" in fitted:
            matrix = matrix + fitted[f"down_{number}"].astype(np.float32) @ fitted[f"up_{number}"]
        return matrix

    for layer in range(LAYERS):
        query, key, value, mix, wide, narrow = range(6 * layer, 6 * layer + 6)
        root = np.float32((WIDTH / HEADS) ** 0.5)
        shares = [_smoothing(weights, 2 * layer + place) for place in (0, 1)]
        together = np.concatenate([changed(query) / root, changed(key), changed(value)], axis=1)
        arrays |= _with_scale(f"attention_{layer}", together / shares[0][:, None])
        arrays |= _with_scale(f"mix_{layer}", changed(mix))
        arrays |= _with_scale(f"wide_{layer}", changed(wide) / shares[1][:, None])
        arrays |= _with_scale(f"narrow_{layer}", changed(narrow))
        arrays |= {f"attention_{layer}.shares": shares[0], f"wide_{layer}.shares": shares[1]}
        biases = [weights[f"linear_{number}.bias"] for number in (query, key, value)]
        arrays[f"attention_{layer}.bias"] = np.concatenate([biases[0] / root, *biases[1:]])
        for name, number in (("mix", mix), ("wide", wide), ("narrow", narrow)):
            arrays[f"{name}_{layer}.bias"] = weights[f"linear_{number}.bias"]
    # copies: a view would keep the whole file of weights in memory, and one by columns could not be mapped
    return {name: np.array(values, order="C") for name, values in arrays.items()}


def _smoothing(weights: Arrays, norm: int) -> FloatArray:
    """Returns the share of each state after a normalization that the matrix after it reads; 1 for most of them."""
    largest = abs(weights[f"norm_{norm}.bias"]) + _DEVIATIONS * abs(weights[f"norm_{norm}.weight"])
    found: FloatArray = 1 / np.maximum(np.sqrt(largest / np.median(largest)), np.float32(1))
    return found.astype(np.float32)


def _with_scale(name: str, matrix: NDArray[Any]) -> dict[str, NDArray[Any]]:
    scale = np.maximum(abs(matrix).max(axis=0), np.float32(1e-8)) / np.float32(127)
    return {f"{name}.matrix": np.round(matrix / scale).astype(np.int8), f"{name}.scale": scale}


class LowRankTransformer:
    """A reader by the changed transformer; a subclass has the file of the fitted arrays.

    Attributes:
        file: The fitted arrays; ``None`` for the transformer without a change.
    """

    file: ClassVar[Path | None]

    @classmethod
    @cache
    def load(cls) -> Self | None:
        """Returns the reader, or ``None`` if the weights of the transformer are not installed."""
        return cls() if installed_archive() is not None else None

    @cached_property
    def arrays(self) -> Arrays:
        """The arrays of :func:`quantized`, those of the head among them.

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

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """Returns the vector of each text, the mean of its pieces' states, of length 1."""
        pieces = word_pieces()
        return mean_vectors(self.states([[pieces.cls, *pieces(text), pieces.sep] for text in texts]))

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
        return inference_session(Path(__file__).with_name("network.onnx").read_bytes(), inside)

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


def relative_buckets(length: int) -> IntArray:
    """Returns the bucket of the distance from each piece to each other; shape ``(length, length)``.

    Half of the buckets are of later pieces. Half of those have one distance each, the others more and more of them.
    """
    places = np.arange(length)
    distances = places[None, :] - places[:, None]
    near = BUCKETS // 4
    steps = np.log(np.maximum(abs(distances), 1) / near) / np.log(FURTHEST / near) * near
    far = np.minimum(near + steps.astype(np.int64), BUCKETS // 2 - 1)
    result: IntArray = np.where(distances > 0, BUCKETS // 2, 0) + np.where(abs(distances) < near, abs(distances), far)
    return result
