"""Fine-tuning: the gold replies of prompts as tokens, and an adapter of a tiny model in llama.cpp's format."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import dspy
import pytest

from experiments.data import conversation_examples, load_conversations
from experiments.saved import find_program
from kg.errors import ConfigError, DataError
from optimize.examples import turn_examples
from optimize.finetuning import IGNORED, AdapterSettings, FitAdapter, gold_replies, token_sequence, train_adapter
from programs.lm import EngineSettings

WIDTH, INNER, HEADS, KEY_HEADS, BLOCKS, VOCABULARY = 32, 48, 4, 2, 2, 128
SETTINGS = AdapterSettings(name="mine", epochs=8, rank=4, blocks=1, learning_rate=0.02, batch=4, longest=100)
REPLIES = [([{"role": "user", "content": letter}], letter) for letter in "abcd" * 4]
MARKS = {"<": 1, ">": 2, "/": 3}


class CharacterTokeniser:
    """Each character is a token; a message is ``<role:content/``, and ``<assistant:`` begins a reply."""

    def template(self, messages: Sequence[Mapping[str, str]]) -> str:
        text = "".join(f"<{message['role']}:{message['content']}/" for message in messages)
        return text if messages[-1]["role"] == "assistant" else f"{text}<assistant:"

    def token_ids(self, text: str, *, begins: bool = False, marks: bool = False) -> list[int]:
        return [MARKS[one] if marks and one in MARKS else ord(one) for one in text]


def test_a_reply_is_learned_to_its_end() -> None:
    sequence = token_sequence([{"role": "user", "content": "a"}], "xy", CharacterTokeniser(), 100)
    assert sequence["input_ids"] == CharacterTokeniser().token_ids("<user:a/<assistant:xy/", marks=True)
    assert [label for label in sequence["labels"] if label != IGNORED] == [ord("x"), ord("y"), MARKS["/"]]
    assert token_sequence([{"role": "user", "content": "a"}], "xy", CharacterTokeniser(), 10)["input_ids"] == []


def test_the_gold_calculation_is_the_reply_to_the_prompt_of_understand() -> None:
    program = find_program("beam").program
    examples = turn_examples(conversation_examples(load_conversations("sample:train").conversations[:2]), program)
    replies = gold_replies(program.turn.understand.predict, examples)
    assert len(replies) == sum("calculation" in example for example in examples) > 0
    messages, reply = replies[-1]
    wanted = [example for example in examples if "calculation" in example][-1]
    assert json.loads(reply)["calculation"] == wanted.calculation
    assert wanted.question in messages[-1]["content"]
    assert wanted.page in messages[-1]["content"]


def test_only_an_embedded_model_is_trained(scripted_lm: object) -> None:
    program = find_program("beam").program
    with dspy.context(lm=scripted_lm([])), pytest.raises(ConfigError, match="trains an embedded model"):  # type: ignore[operator]
        FitAdapter().compile(program, trainset=[])


def write_base(path: Path, family: str) -> Path:
    import gguf
    import numpy as np

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


@pytest.mark.filterwarnings("ignore")  # of other libraries
@pytest.mark.parametrize("family", ["qwen2", "llama"])
def test_a_tiny_model_learns_and_its_adapter_is_written_for_the_runtime(family: str, tmp_path: Path) -> None:
    for package in ("torch", "transformers", "peft", "accelerate"):
        pytest.importorskip(package)
    gguf = pytest.importorskip("gguf")
    base = write_base(tmp_path / "tiny.gguf", family)
    tokeniser = CharacterTokeniser()
    engine = SimpleNamespace(
        settings=EngineSettings(base, "local/tiny"), template=tokeniser.template, token_ids=tokeniser.token_ids
    )
    card = train_adapter(engine, REPLIES, SETTINGS, seed=0)
    losses = [point["loss"] for point in card["curves"] if "loss" in point]
    assert losses[-1] < losses[0] / 2
    assert json.loads((tmp_path / "adapters" / "tiny+mine.json").read_text()) == card
    read = gguf.GGUFReader(str(tmp_path / "adapters" / "tiny+mine.gguf"))
    sizes = {tensor.name: tuple(tensor.shape.tolist()) for tensor in read.tensors}
    names = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    assert set(sizes) == {f"blk.1.{name}.weight.lora_{side}" for name in names for side in "ab"}
    assert sizes["blk.1.attn_k.weight.lora_a"] == (32, 4), "the runtime's order: inputs, then the rank"
    assert read.get_field("general.type").contents() == "adapter"
    with pytest.raises(DataError, match="no prompt has a reply"):
        train_adapter(engine, [], SETTINGS, seed=0)
