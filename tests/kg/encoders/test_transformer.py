"""The transformer that the readers change: its installed parts, its quantized arrays, their cache and its network."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import erf, softmax

from kg.encoders import network, quantized, relative_buckets, word_pieces
from kg.encoders.installed import HEADS, LAYERS, installed_parts
from kg.news import spans


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


@pytest.fixture(scope="module")
def arrays() -> quantized.Arrays:
    if installed_parts() is None:
        pytest.skip("needs the weights of the extra news")
    return quantized.quantized_file(spans.FILE)


def _expected(arrays: quantized.Arrays, numbers: list[int]) -> np.ndarray:
    """The states by NumPy, without rounding of the states."""

    def product(states: np.ndarray, name: str) -> np.ndarray:
        return states @ (arrays[f"{name}.matrix"] * arrays[f"{name}.scale"]) + arrays[f"{name}.bias"]

    def normal(states: np.ndarray, number: int) -> np.ndarray:
        states = states - states.mean(1, keepdims=True)
        states = states / np.sqrt((states**2).mean(1, keepdims=True) + 1e-5)
        return states * arrays[f"norm_{number}.weight"] + arrays[f"norm_{number}.bias"]

    length = len(numbers)
    bias = arrays["relative"][relative_buckets(length)].transpose(2, 0, 1)
    states = normal(arrays["words"][numbers] + arrays["positions"][2 : 2 + length], 0)
    for layer in range(LAYERS):
        parts = product(states * arrays[f"attention_{layer}.shares"], f"attention_{layer}")
        query, key, value = parts.reshape(length, 3, HEADS, -1).transpose(1, 2, 0, 3)
        mixed = softmax(query @ key.transpose(0, 2, 1) + bias, axis=-1) @ value
        found = product(mixed.transpose(1, 0, 2).reshape(length, -1), f"mix_{layer}")
        states = normal(states + found, 2 * layer + 1)
        wide = product(states * arrays[f"wide_{layer}.shares"], f"wide_{layer}")
        states = normal(states + product(wide * (1 + erf(wide / 2**0.5)) / 2, f"narrow_{layer}"), 2 * layer + 2)
    return states


def test_the_network_gives_the_states_of_the_transformer_whatever_is_read_with_them(arrays: quantized.Arrays) -> None:
    pieces = word_pieces()
    texts = ["Who lent Greyfen the money?", "Halloran is the creditor of Greyfen, which owes it $ 40 million in all."]
    short, long = [[pieces.cls, *pieces(text), pieces.sep] for text in texts]
    given = network.Network(arrays)
    alone = given.states([short])[0]
    expected = _expected(arrays, short)
    cosines = (alone * expected).sum(1) / np.linalg.norm(alone, axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.mean() > 0.98
    np.testing.assert_allclose(given.states([long, short])[1, : len(short)], alone, atol=1e-3)
