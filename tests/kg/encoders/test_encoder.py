"""The shipped encoder in files and as a pickle; the recorded results are the test of its inference."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from experiments.readers import shipped_encoder
from kg.encoders import TextEncoder
from kg.errors import DataError


def test_copies_and_files_are_the_same_encoder(tmp_path: Path) -> None:
    encoder = shipped_encoder()
    encoder.write(tmp_path / "new")
    for other in (TextEncoder.read(tmp_path / "new"), pickle.loads(pickle.dumps(encoder))):
        assert other.sha256 == encoder.sha256
        assert np.array_equal(other.question(["net income?"]).slots, encoder.question(["net income?"]).slots)
    (tmp_path / "new" / "heads.npz").unlink()
    with pytest.raises(DataError, match="the encoder cannot be read"):
        TextEncoder.read(tmp_path / "new")
    with pytest.raises(DataError, match=r"an encoder must have .*; vocab\.txt is missing"):
        TextEncoder({"encoder.onnx": b"", "heads.npz": b""})
    with pytest.raises(DataError, match=r"heads\.npz: the encoder's heads cannot be read"):
        TextEncoder({**encoder.files, "heads.npz": b"nothing"})
