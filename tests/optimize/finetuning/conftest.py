"""A tokeniser of characters, and a decoder of two small blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

MARKS = {"<": 1, ">": 2, "/": 3}


class CharacterTokeniser:
    """Each character is a token; a message is ``<role:content/``, and ``<assistant:`` begins a reply."""

    def template(self, messages: Sequence[Mapping[str, str]]) -> str:
        text = "".join(f"<{one['role']}:{one['content']}/" for one in messages)
        return text if messages[-1]["role"] == "assistant" else f"{text}<assistant:"

    def token_ids(self, text: str, *, begins: bool = False, marks: bool = False) -> list[int]:
        return [MARKS[one] if marks and one in MARKS else ord(one) for one in text]


@pytest.fixture
def tokeniser() -> CharacterTokeniser:
    return CharacterTokeniser()


@pytest.fixture(params=["qwen2", "llama"])
def weights(request: pytest.FixtureRequest) -> Any:
    torch = pytest.importorskip("torch")
    from optimize.finetuning.weights import Shape, Weights

    shape = Shape(request.param, 2, 32, 4, 2, 1e-6, 10000.0, 128)
    draw = torch.Generator().manual_seed(0)

    def drawn(*size: int) -> Any:
        return torch.randn(*size, generator=draw) * 0.2

    tensors = {"token_embd.weight": drawn(128, 32), "output_norm.weight": torch.ones(32)}
    for number in range(2):
        sizes = {
            "attn_q": (32, 32),
            "attn_k": (16, 32),
            "attn_v": (16, 32),
            "attn_output": (32, 32),
            "ffn_gate": (48, 32),
            "ffn_up": (48, 32),
            "ffn_down": (32, 48),
        }
        tensors |= {f"blk.{number}.{name}.weight": drawn(*size) for name, size in sizes.items()}
        tensors |= {f"blk.{number}.{name}.weight": torch.ones(32) for name in ("attn_norm", "ffn_norm")}
    return Weights(shape, tensors)
