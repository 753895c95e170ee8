"""The training of adapters on tiny models: it learns, continues after a stop, and writes a file for llama.cpp."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

for package in ("torch", "transformers", "peft", "gguf"):
    pytest.importorskip(package)

import gguf  # noqa: E402
import numpy as np  # noqa: E402

from kg.errors import ConfigError, DataError  # noqa: E402
from optimize.finetuning import AdapterConfig, Chat, train_adapter  # noqa: E402
from programs.lm import EmbeddedEngine, EngineSettings  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of other libraries
WIDTH, INNER, HEADS, KEY_HEADS, BLOCKS, VOCABULARY = 32, 48, 4, 2, 2, 128
CONFIG = AdapterConfig(epochs=8, rank=4, blocks=1, learning_rate=0.02, batch=4, longest=100)
CHATS = [
    Chat(({"role": "user", "content": letter}, {"role": "assistant", "content": letter}), frozenset({1}), "")
    for letter in "abcd" * 4
]


@pytest.fixture(params=["qwen2", "llama"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The file of a tiny model with random weights."""
    return write_base(tmp_path / "tiny.gguf", request.param)


def write_base(path: Path, family: str) -> Path:
    draw = np.random.default_rng(0)
    writer = gguf.GGUFWriter(str(path), family)
    writer.add_block_count(BLOCKS)
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    writer.add_token_list([chr(place) for place in range(VOCABULARY)])
    keys = WIDTH // HEADS * KEY_HEADS
    sizes = {"attn_q": (WIDTH, WIDTH), "attn_k": (keys, WIDTH), "attn_v": (keys, WIDTH), "attn_output": (WIDTH, WIDTH)}
    sizes |= {"ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}
    tensors = {"token_embd.weight": draw.normal(0, 0.2, (VOCABULARY, WIDTH)), "output_norm.weight": np.ones(WIDTH)}
    for block in range(BLOCKS):
        tensors |= {f"blk.{block}.{name}.weight": draw.normal(0, 0.2, size) for name, size in sizes.items()}
        tensors |= {f"blk.{block}.{name}.weight": np.ones(WIDTH) for name in ("attn_norm", "ffn_norm")}
        if family == "qwen2":
            tensors |= {f"blk.{block}.{name}.bias": np.zeros(sizes[name][0]) for name in ("attn_q", "attn_k", "attn_v")}
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def engine_of(base: Path, tokeniser: Any) -> Any:
    """The file, with a tokeniser of characters in place of the runtime's."""
    settings = EngineSettings(base, "local/tiny")
    return SimpleNamespace(settings=settings, template=tokeniser.template, token_ids=tokeniser.token_ids)


def test_it_learns_what_the_weights_do_not_know(base: Path, tokeniser: Any) -> None:
    points: list[tuple[dict[str, float], int]] = []
    card = train_adapter(
        engine_of(base, tokeniser),
        CHATS,
        CHATS[:4],
        name="mine",
        config=CONFIG,
        seed=0,
        plot=lambda values, step: points.append((values, step)),
    )
    losses = [point["eval_loss"] for point in card["curves"] if "eval_loss" in point]
    assert losses[-1] < losses[0] / 3
    assert [values["training/eval_loss"] for values, _ in points if "training/eval_loss" in values] == losses
    assert json.loads((base.parent / "adapters" / "tiny+mine.json").read_text()) == card
    assert (card["chats"], card["base"]["file"]) == (16, "tiny.gguf")


def test_the_file_has_a_pair_of_matrices_for_each_projection(base: Path, tokeniser: Any) -> None:
    train_adapter(engine_of(base, tokeniser), CHATS, [], name="mine", config=CONFIG, seed=0)
    read = gguf.GGUFReader(str(base.parent / "adapters" / "tiny+mine.gguf"))
    sizes = {tensor.name: tuple(tensor.shape.tolist()) for tensor in read.tensors}
    assert set(sizes) == {
        f"blk.1.{name}.weight.lora_{side}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
        for side in "ab"
    }
    assert sizes["blk.1.attn_k.weight.lora_a"] == (32, 4), "the runtime's order: inputs, then the rank"
    assert sizes["blk.1.attn_k.weight.lora_b"] == (4, 16)
    assert read.get_field("adapter.lora.alpha").contents() == 8.0
    assert read.get_field("adapter.type").contents() == "lora"
    assert read.get_field("general.type").contents() == "adapter"


def test_training_continues_from_its_last_checkpoint(tmp_path: Path, tokeniser: Any) -> None:
    engine = engine_of(write_base(tmp_path / "tiny.gguf", "qwen2"), tokeniser)
    folder = tmp_path / "step"
    whole = train_adapter(engine, CHATS, [], name="mine", config=CONFIG, seed=0, folder=folder)
    saved = sorted(folder.glob("checkpoint-*"))
    assert saved
    again = train_adapter(engine, CHATS, [], name="mine", config=CONFIG, seed=0, folder=folder)
    assert again["sha256"] == whole["sha256"], "nothing is left to learn after the last step"


def test_what_cannot_be_trained_is_an_error(tmp_path: Path, tokeniser: Any) -> None:
    engine = engine_of(write_base(tmp_path / "tiny.gguf", "qwen2"), tokeniser)
    with pytest.raises(DataError, match="no chat has a reply"):
        train_adapter(engine, [replace(CHATS[0], learned=frozenset())], [], name="mine", config=CONFIG, seed=0)
    with pytest.raises(ConfigError, match="an adapter's name"):
        train_adapter(engine, CHATS, [], name="Mine!", config=CONFIG, seed=0)


@pytest.mark.slow
def test_the_runtime_has_learned_it(smallest_model: Path, tmp_path: Path) -> None:
    """The runtime gives a reply the probability that transformers gave it at the end of training."""
    base = tmp_path / smallest_model.name
    base.symlink_to(smallest_model)
    engine = EmbeddedEngine(EngineSettings(base, "local/smallest"))
    messages = ({"role": "user", "content": "red"}, {"role": "assistant", "content": "seven"})
    chats = [Chat(messages, frozenset({1}), "")] * 4
    card = train_adapter(engine, chats, chats[:1], name="t", config=AdapterConfig(blocks=30, batch=1), seed=0)
    losses = [point["eval_loss"] for point in card["curves"] if "eval_loss" in point]
    tokens = len(engine.token_ids("seven")) + 1
    tuned = engine.with_adapter("local/smallest+t")
    before, after = (each.score([messages[0]], ["seven"])[0] / tokens for each in (engine, tuned))
    assert -before == pytest.approx(losses[0], abs=0.2)
    assert -after == pytest.approx(losses[-1], abs=1.0)
    assert losses[-1] < losses[0] - 2
