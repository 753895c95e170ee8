"""The array types of the rooms, one name for each element type, files of arrays, and the logarithm of softmax."""

import io
import struct
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kg.errors import DataError

FloatArray = NDArray[np.float32]
DoubleArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MAPPED_FROM = 1 << 20
"""Bytes from which an array is mapped."""

_NAME_LENGTH = 26
"""Where the header of a member of a ``zip`` file has the lengths of its name and of its further field."""

MOST_RATIO = 50
"""Bytes of arrays for each byte of their file."""


def read_arrays(source: Path | bytes, *, mapped: bool = False) -> dict[str, NDArray[Any]]:
    """The arrays of an ``.npz`` file.

    Args:
        source: The file or its content.
        mapped: Whether large arrays of an uncompressed file stay in it: they are read as they are needed, cannot be
            changed, and take memory that the system can take back.

    Raises:
        DataError: The file cannot be read, or is no such file.
    """
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as opened:
            with zipfile.ZipFile(opened) as archive:
                members = archive.infolist()
                unpacked = sum(member.file_size for member in members)
            size = opened.seek(0, io.SEEK_END)
            if unpacked > MOST_RATIO * size:
                raise DataError(f"unpacks to {unpacked} bytes, more than {MOST_RATIO} times its size")
            opened.seek(0)
            with warnings.catch_warnings(), np.load(opened, allow_pickle=False) as stored:
                warnings.simplefilter("ignore")  # of headers that Python 2 wrote
                in_file = _mapped(source, members) if mapped and isinstance(source, Path) else {}
                return {name: in_file[name] if name in in_file else stored[name] for name in stored.files}
    except DataError:
        raise
    except Exception as error:  # zipfile, zlib, numpy and tokenize, by which numpy reads headers, have their own
        raise DataError(f"cannot be read as arrays: {type(error).__name__}: {error}") from error


def _mapped(path: Path, members: Sequence[zipfile.ZipInfo]) -> dict[str, NDArray[Any]]:
    """The large uncompressed arrays of a file, mapped into memory."""
    found: dict[str, NDArray[Any]] = {}
    with path.open("rb") as file:
        for member in members:
            if member.compress_type != zipfile.ZIP_STORED or member.file_size < MAPPED_FROM:
                continue
            file.seek(member.header_offset + _NAME_LENGTH)
            file.seek(sum(struct.unpack("<HH", file.read(4))), io.SEEK_CUR)
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, kind = read(file)
            if kind.hasobject:
                raise DataError("an array must not hold objects")
            order: Literal["C", "F"] = "F" if fortran else "C"
            array = np.memmap(path, dtype=kind, mode="r", offset=file.tell(), shape=shape, order=order)
            found[member.filename.removesuffix(".npy")] = np.asarray(array)
    return found


def log_softmax(scores: FloatArray, axis: int = -1) -> FloatArray:
    """Returns log-probabilities, bit for bit those of ``scipy.special.log_softmax`` for finite scores.

    A turn needs hundreds of small ones, for which scipy's checks of the array library take most of the time.
    """
    shifted = scores - scores.max(axis=axis, keepdims=True)
    result: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return result
