"""The transformer that the readers change: its installed parts, its quantized arrays, their cache and its network."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kg.encoders import quantized, word_pieces


def test_the_pieces_are_those_of_bert_after_four_special_ones() -> None:
    pieces = word_pieces()
    assert (pieces.cls, pieces.sep, pieces.numbers["<pad>"], pieces.unknown) == (0, 2, 1, 104)
    assert pieces("Who lent the money?") == [2044, 15311, 2000, 2773, 1033]


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The fitted files whose arrays were quantized; the cache is the test's own."""
    found: list[Path] = []

    def build(fitted: Path) -> dict[str, Any]:
        found.append(fitted)
        return {"values": np.zeros(1 << 20, dtype=np.int8)}

    monkeypatch.setattr(quantized, "_quantized", build)
    monkeypatch.setattr(quantized, "cache_folder", lambda: tmp_path / "cache")
    return found


def _fitted(folder: Path, content: str) -> Path:
    (folder / "fitted.npz").write_text(content)
    return folder / "fitted.npz"


def test_arrays_are_quantized_once_for_each_fitted_content(tmp_path: Path, built: list[Path]) -> None:
    quantized.quantized_file(_fitted(tmp_path, "a"))
    again = quantized.quantized_file(_fitted(tmp_path, "a"))
    assert len(built) == 1
    assert not again["values"].flags.writeable  # it is in the file
    quantized.quantized_file(_fitted(tmp_path, "b"))
    assert len(built) == 2
