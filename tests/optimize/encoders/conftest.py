"""A base model of random weights in the files of a sentence encoder, for tests of the encoder's training."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest

SAMPLE = Path(__file__).resolve().parents[3] / "experiments" / "sample"
WIDTH, INNER, LAYERS, PLACES = 384, 48, 2, 512


def _vocabulary() -> list[str]:
    text = (SAMPLE / "train.json").read_text().lower()
    words = sorted(set(re.findall(r"[a-z]{3,}", text)))
    signs = sorted(set("abcdefghijklmnopqrstuvwxyz0123456789.,:;$%()'?!-/&"))
    return ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *signs, *(f"##{one}" for one in signs), *words]


def _weights(vocabulary: int) -> dict[str, np.ndarray]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (vocabulary, WIDTH),
        "embeddings.position_embeddings.weight": (PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    linears = {"embeddings.LayerNorm": (WIDTH,)}
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}."
        linears |= {f"{layer}attention.self.{one}": (WIDTH, WIDTH) for one in ("query", "key", "value")}
        linears |= {f"{layer}attention.output.dense": (WIDTH, WIDTH), f"{layer}intermediate.dense": (INNER, WIDTH)}
        linears |= {f"{layer}output.dense": (WIDTH, INNER)}
        linears |= {f"{layer}{one}.LayerNorm": (WIDTH,) for one in ("attention.output", "output")}
    for name, shape in linears.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    rng = np.random.default_rng(0)
    return {
        name: (rng.normal(size=shape) * 0.05 + name.endswith("LayerNorm.weight")).astype(np.float32)
        for name, shape in shapes.items()
    }


def write_safetensors(path: Path, weights: dict[str, np.ndarray]) -> None:
    header, begin = {}, 0
    for name, value in weights.items():
        end = begin + value.nbytes
        header[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(value.tobytes() for value in weights.values()))


@pytest.fixture(scope="session")
def base_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    vocabulary = _vocabulary()
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in vocabulary))
    write_safetensors(folder / "model.safetensors", _weights(len(vocabulary)))
    return folder
