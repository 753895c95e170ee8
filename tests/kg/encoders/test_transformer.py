"""The transformer that the readers change: its pieces, its archive, its quantized arrays and their cache."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kg.encoders import transformer, word_pieces
from kg.errors import DataError


def test_the_pieces_are_those_of_bert_after_four_special_ones() -> None:
    pieces = word_pieces()
    assert (pieces.cls, pieces.sep, pieces.numbers["<pad>"], pieces.unknown) == (0, 2, 1, 104)
    assert pieces("Who lent the money?") == [2044, 15311, 2000, 2773, 1033]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer, "cache_folder", lambda: tmp_path)


def test_other_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not installed"):
        transformer.installed_weights()
    (tmp_path / "models").mkdir()
    with zipfile.ZipFile(tmp_path / "models" / transformer.ARCHIVE, "w") as archive:
        archive.writestr("all-mpnet-base-v2/model.safetensors", b"other")
    with pytest.raises(DataError, match="others than expected"):
        transformer.installed_weights()


def test_arrays_are_quantized_once_for_each_fitted_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []

    def quantized(_: Any, fitted: Any) -> dict[str, Any]:
        built.append(int(fitted["number"]))
        return {"values": np.zeros(1 << 20, dtype=np.int8)}

    monkeypatch.setattr(transformer, "installed_weights", dict)
    monkeypatch.setattr(transformer, "quantized", quantized)
    for number in (1, 1, 2):
        np.savez(tmp_path / "fitted.npz", number=number)
        arrays = transformer.quantized_file(tmp_path / "fitted.npz")
    assert built == [1, 2]
    assert arrays["values"].shape == (1 << 20,)
    assert not transformer.quantized_file(tmp_path / "fitted.npz")["values"].flags.writeable  # it is in the file
