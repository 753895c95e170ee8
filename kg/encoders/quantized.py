"""The changed transformer with matrices of 8 bits, kept as a file in the cache.

>>> arrays = quantized_file(Path("reader.npz"))
>>> arrays["wide_0.matrix"].dtype, arrays["wide_0.scale"].shape
(dtype('int8'), (3072,))

A matrix has a scale for each column. A few inputs of a matrix are much larger than the others, always the same ones, as
the normalization before it makes them so. They are divided, and their rows multiplied, by the square root of how much
larger they are (Xiao et al., 2023).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kg.arrays import FloatArray, read_arrays
from kg.encoders.installed import HEADS, LAYERS, SHA256, WIDTH, Norm, TransformerWeights, installed_weights
from kg.errors import DataError
from kg.files import cache_folder, replacing
from kg.locks import locked

Arrays = Mapping[str, NDArray[Any]]

KEPT = 4
"""Files in the cache, those that were used last; each has about 140 MB."""

HEADS_OF = {"hidden": 3 * WIDTH, "begin": WIDTH}
"""The first matrix of each head, that of given spans and that of all spans, and its rows."""

_LAYOUT = "1"
"""Another one for another layout of the arrays."""

_DEVIATIONS = 4
"""Standard deviations within which the inputs of a matrix are expected."""


def quantized_file(fitted: Path) -> Arrays:
    """Returns the arrays for a file of fitted ones, from the cache if they are there.

    Without a cache that can be written they are only in memory.

    Raises:
        DataError: The weights are not installed or others, or the fitted arrays do not fit them.
    """
    key = hashlib.sha256(b"\n".join((_LAYOUT.encode(), SHA256.encode(), fitted.read_bytes()))).hexdigest()
    file = cache_folder() / "transformers" / f"{key[:32]}.npz"
    found = _cached(file)
    if found is not None:
        return found
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with locked(file.parent / "lock"):
            return _cached(file) or _written(file, fitted)
    except OSError:
        return _quantized(fitted)


def _cached(file: Path) -> Arrays | None:
    """Returns the arrays of a file in the cache, which stay in the file; ``None`` if there are none."""
    try:
        found = read_arrays(file, mapped=True)
    except DataError:
        return None
    with suppress(OSError):
        os.utime(file)
    return found


def _written(file: Path, fitted: Path) -> Arrays:
    found = _quantized(fitted)
    with suppress(DataError), replacing(file) as opened:
        np.savez(opened, allow_pickle=False, **found)
    others = sorted(file.parent.glob("*.npz"), key=lambda one: one.stat().st_mtime)
    for old in others[:-KEPT]:
        with suppress(OSError):
            old.unlink()
    return found


def _quantized(fitted: Path) -> Arrays:
    weights = installed_weights()
    if weights is None:
        raise DataError("the weights of the transformer are not installed", file=str(fitted))
    return quantized(weights, read_arrays(fitted))


def quantized(weights: TransformerWeights, fitted: Arrays) -> Arrays:
    """Returns the arrays of the network, of its embeddings and of its head.

    Args:
        weights: The weights.
        fitted: For the matrix N that is changed ``down_N`` and ``up_N``, whose product is added; all others are of the
            head. Their names have no dots, and those of the network do.

    Raises:
        DataError: The head is one of another transformer.
    """
    for name, rows in HEADS_OF.items():
        if name in fitted and fitted[name].shape[0] != rows:
            raise DataError(f"{name} must have {rows} rows, got {fitted[name].shape[0]}")
    if not HEADS_OF.keys() & fitted.keys():
        raise DataError(f"the fitted arrays have no head: one of {', '.join(HEADS_OF)}")
    changes = ("down_", "up_")
    head = {name: values.astype(np.float32) for name, values in fitted.items() if not name.startswith(changes)}
    found: dict[str, NDArray[Any]] = {
        "words": weights.words.astype(np.float16),
        "positions": weights.positions,
        "relative": weights.relative,
    }
    for number, norm in enumerate(weights.norms):
        found |= {f"norm_{number}.weight": norm.weight, f"norm_{number}.bias": norm.bias}

    def changed(number: int) -> FloatArray:
        matrix = weights.linears[number].matrix
        if f"down_{number}" not in fitted:
            return matrix
        whole: FloatArray = matrix + fitted[f"down_{number}"].astype(np.float32) @ fitted[f"up_{number}"]
        return whole

    for layer in range(LAYERS):
        query, key, value, mix, wide, narrow = range(6 * layer, 6 * layer + 6)
        biases = [linear.bias for linear in weights.linears]
        root = np.float32((WIDTH / HEADS) ** 0.5)
        shares = _smoothing(weights.norms[2 * layer]), _smoothing(weights.norms[2 * layer + 1])
        together = np.concatenate([changed(query) / root, changed(key), changed(value)], axis=1)
        found |= _with_scale(f"attention_{layer}", together / shares[0][:, None])
        found |= _with_scale(f"mix_{layer}", changed(mix))
        found |= _with_scale(f"wide_{layer}", changed(wide) / shares[1][:, None])
        found |= _with_scale(f"narrow_{layer}", changed(narrow))
        found |= {f"attention_{layer}.shares": shares[0], f"wide_{layer}.shares": shares[1]}
        found[f"attention_{layer}.bias"] = np.concatenate([biases[query] / root, biases[key], biases[value]])
        for name, number in (("mix", mix), ("wide", wide), ("narrow", narrow)):
            found[f"{name}_{layer}.bias"] = biases[number]
    # copies: a view would keep the whole file of weights in memory, and one by columns could not be mapped
    return {name: np.array(values, order="C") for name, values in {**found, **head}.items()}


def _smoothing(norm: Norm) -> FloatArray:
    """Returns the share of each state after a normalization that the matrix after it reads; 1 for most of them."""
    largest = abs(norm.bias) + _DEVIATIONS * abs(norm.weight)
    found: FloatArray = 1 / np.maximum(np.sqrt(largest / np.median(largest)), np.float32(1))
    return found.astype(np.float32)


def _with_scale(name: str, matrix: NDArray[Any]) -> dict[str, NDArray[Any]]:
    scale = np.maximum(abs(matrix).max(axis=0), np.float32(1e-8)) / np.float32(127)
    return {f"{name}.matrix": np.round(matrix / scale).astype(np.int8), f"{name}.scale": scale}
