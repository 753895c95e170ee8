"""The array types of the rooms, one name for each element type, files of arrays, and the logarithm of softmax."""

import io
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kg.errors import DataError

FloatArray = NDArray[np.float32]
DoubleArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MOST_RATIO = 50
"""Bytes of arrays for each byte of their file."""


def read_arrays(source: Path | bytes) -> dict[str, NDArray[Any]]:
    """The arrays of an ``.npz`` file.

    Raises:
        DataError: The file cannot be read, or is no such file.
    """
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as opened:
            with zipfile.ZipFile(opened) as archive:
                unpacked = sum(member.file_size for member in archive.infolist())
            size = opened.seek(0, io.SEEK_END)
            if unpacked > MOST_RATIO * size:
                raise DataError(f"unpacks to {unpacked} bytes, more than {MOST_RATIO} times its size")
            opened.seek(0)
            with warnings.catch_warnings(), np.load(opened, allow_pickle=False) as stored:
                warnings.simplefilter("ignore")  # of headers that Python 2 wrote
                return {name: stored[name] for name in stored.files}
    except DataError:
        raise
    except Exception as error:  # zipfile, zlib, numpy and tokenize, by which numpy reads headers, have their own
        raise DataError(f"cannot be read as arrays: {type(error).__name__}: {error}") from error


def log_softmax(scores: FloatArray, axis: int = -1) -> FloatArray:
    """Returns log-probabilities, bit for bit those of ``scipy.special.log_softmax`` for finite scores.

    A turn needs hundreds of small ones, for which scipy's checks of the array library take most of the time.
    """
    shifted = scores - scores.max(axis=axis, keepdims=True)
    result: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return result
