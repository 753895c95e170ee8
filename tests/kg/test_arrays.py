"""The logarithm of softmax, and files of arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kg.arrays import MAPPED_FROM, read_arrays
from kg.errors import DataError


@pytest.mark.parametrize(("save", "is_mapped"), [(np.savez, True), (np.savez_compressed, False)])
def test_large_arrays_of_an_uncompressed_file_stay_in_it(tmp_path: Path, save: Any, is_mapped: bool) -> None:
    path = tmp_path / "arrays.npz"
    large = np.random.default_rng(0).integers(0, 1000, (MAPPED_FROM // 8, 2)).astype(np.int32)
    given = {"large": large, "turned": np.asfortranarray(large), "small": np.arange(3), "none": np.zeros(0)}
    save(path, **given)
    found = read_arrays(path, mapped=True)
    assert all(np.array_equal(found[name], array) for name, array in given.items())
    assert found["large"].flags.writeable is not is_mapped
    assert found["small"].flags.writeable
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="cannot be read as arrays"):
        read_arrays(path, mapped=True)
