"""The transformer that the readers change: its installed parts, its quantized arrays, their cache and its network."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import erf, softmax

from kg.encoders import LowRankTransformer, installed, network, quantized, relative_buckets, word_pieces
from kg.encoders.installed import HEADS, LAYERS, WIDTH, installed_parts, installed_weights
from kg.errors import DataError
from kg.news import spans


def test_the_pieces_are_those_of_bert_after_four_special_ones() -> None:
    pieces = word_pieces()
    assert (pieces.cls, pieces.sep, pieces.numbers["<pad>"], pieces.unknown) == (0, 2, 1, 104)
    assert pieces("Who lent the money?") == [2044, 15311, 2000, 2773, 1033]


def test_the_bucket_of_a_distance_tells_its_side() -> None:
    found = relative_buckets(200)
    assert found[0, :9].tolist() == [0, 17, 18, 19, 20, 21, 22, 23, 24]
    assert found[:9, 0].tolist() == list(range(9))
    assert (found[0, 199], found[199, 0]) == (31, 15)


def test_a_missing_part_is_no_transformer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "PARTS", 6)
    monkeypatch.setattr(installed, "cache_folder", lambda: tmp_path)
    assert installed_parts() is None
    assert installed_weights() is None
    assert LowRankTransformer.load(Path("another.npz")) is None


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("all-mpnet-base-v2/model.safetensors", b"others")
    parts = [tmp_path / "zip.001", tmp_path / "zip.002"]
    parts[0].write_bytes(whole.read_bytes()[:50])
    parts[1].write_bytes(whole.read_bytes()[50:])
    monkeypatch.setattr(installed, "installed_parts", lambda: parts)
    with pytest.raises(DataError, match=r"zip\.001: the weights of the transformer are others than expected"):
        installed_weights()
    parts[1].write_bytes(b"")
    with pytest.raises(DataError, match=r"zip\.001: the parts of the transformer cannot be read"):
        installed_weights()


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


def test_the_cache_keeps_the_last_files(tmp_path: Path, built: list[Path]) -> None:
    for number in range(quantized.KEPT + 2):
        quantized.quantized_file(_fitted(tmp_path, str(number)))
    assert len(list((tmp_path / "cache" / "transformers").glob("*.npz"))) == quantized.KEPT
    quantized.quantized_file(_fitted(tmp_path, str(quantized.KEPT + 1)))
    assert len(built) == quantized.KEPT + 2


def test_damage_of_the_cache_and_a_cache_that_cannot_be_written_cost_time_only(
    tmp_path: Path, built: list[Path]
) -> None:
    fitted = _fitted(tmp_path, "a")
    quantized.quantized_file(fitted)
    [file] = (tmp_path / "cache" / "transformers").glob("*.npz")
    file.write_bytes(b"damaged")
    assert len(quantized.quantized_file(fitted)["values"]) == 1 << 20
    file.unlink()
    (tmp_path / "cache" / "transformers" / "lock").unlink()
    (tmp_path / "cache" / "transformers").rmdir()
    (tmp_path / "cache" / "transformers").write_text("no folder")
    assert len(quantized.quantized_file(fitted)["values"]) == 1 << 20
    assert len(built) == 3


def _one_layer() -> tuple[installed.TransformerWeights, quantized.Arrays]:
    """Weights of one layer as views of one array, as those of a file are, and a fitted change of one matrix."""
    numbers = np.random.default_rng(0).normal(size=4 * WIDTH * WIDTH).astype(np.float32)
    shapes = [*[(WIDTH, WIDTH)] * 4, (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH)]
    linears = [installed.Linear(numbers[: a * b].reshape(a, b).T, numbers[:a]) for a, b in shapes]
    norms = [installed.Norm(numbers[:WIDTH], numbers[WIDTH : 2 * WIDTH])] * 3
    table = numbers[: 8 * WIDTH].reshape(8, WIDTH)
    fitted = {
        "down_3": np.full((WIDTH, 1), 2, dtype=np.float16),
        "up_3": np.ones((1, WIDTH), dtype=np.float16),
        "hidden": np.zeros((3 * WIDTH, 2), dtype=np.float16),
        "hidden_bias": np.zeros(2),
        "out": np.zeros(2),
        "out_bias": np.zeros(()),
    }
    return installed.TransformerWeights(table, table, numbers[: 32 * HEADS].reshape(32, HEADS), norms, linears), fitted


def test_quantized_arrays_have_the_change_and_do_not_keep_the_file_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantized, "LAYERS", 1)
    weights, fitted = _one_layer()
    found = quantized.quantized(weights, fitted)
    scale = found["mix_0.scale"]
    np.testing.assert_allclose(
        found["mix_0.matrix"] * scale, weights.linears[3].matrix + 2, atol=float(scale.max()) * 0.51
    )
    assert [name for name, one in found.items() if one.base is not None or not one.flags.c_contiguous] == []


def test_a_head_of_another_width_is_refused() -> None:
    weights, fitted = _one_layer()
    with pytest.raises(DataError, match=f"hidden must have {3 * WIDTH} rows, got 7"):
        quantized.quantized(weights, {**fitted, "hidden": np.zeros((7, 2))})
    with pytest.raises(DataError, match="no head: one of hidden, begin"):
        quantized.quantized(weights, {"down_3": fitted["down_3"], "up_3": fitted["up_3"]})


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
