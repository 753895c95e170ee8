"""A decoder with low-rank adapters (LoRA), for training on a CPU in bfloat16 or on a GPU.

Several conversations are packed into one row of tokens; each attends to itself alone. Conversations with a common
beginning have it once: each attends to it and to itself. Blocks below the first one with an adapter run without
gradients, so fewer adapted blocks make training faster. Parallel projections of one input are computed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from optimize.finetuning.weights import FAMILIES, Shape, Weights

PROJECTIONS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
"""The projections of a block that get adapters, by the file's names."""

Lengths = tuple[int, ...]
"""The tokens of a conversation; of several with a common beginning those of it and of the rest of each."""


@dataclass(frozen=True)
class AdapterShape:
    """The size of the adapters.

    Attributes:
        rank: Of each adapter.
        alpha: The adapters are scaled by ``alpha / rank``.
        blocks: Blocks that get adapters, the last ones.
    """

    rank: int
    alpha: float
    blocks: int


class Decoder(nn.Module):
    """The model; only its adapters are trained.

    Args:
        weights: The frozen weights.
        adapters: The size of the adapters.
    """

    def __init__(self, weights: Weights, adapters: AdapterShape) -> None:
        super().__init__()
        self.shape, self.adapters = weights.shape, adapters
        first = weights.shape.blocks - min(adapters.blocks, weights.shape.blocks)
        self.blocks = nn.ModuleList(
            Block(weights, number, adapters if number >= first else None) for number in range(weights.shape.blocks)
        )
        self.first_adapted = first
        self.embedding = weights.tensors["token_embd.weight"]
        self.norm = weights.tensors["output_norm.weight"]
        self.output = weights.tensors.get("output.weight", self.embedding)

    def forward(self, tokens: torch.Tensor, lengths: Sequence[Lengths]) -> torch.Tensor:
        """The hidden states before the output projection, shape ``(tokens, width)``.

        Args:
            tokens: Of all conversations, one after the other.
            lengths: Tokens of each conversation, or of a common beginning and of what each conversation adds to it.
        """
        places = torch.cat([_places(parts, tokens.device) for parts in lengths])
        rotary = _rotary(places, self.shape, self.embedding.dtype)
        with torch.no_grad():
            hidden = functional.embedding(tokens, self.embedding)
            for block in self.blocks[: self.first_adapted]:
                hidden = block(hidden, rotary, lengths)
        for block in self.blocks[self.first_adapted :]:
            hidden = block(hidden, rotary, lengths)
        return functional.rms_norm(hidden, (self.shape.width,), self.norm, self.shape.epsilon)


class Block(nn.Module):
    """A transformer block.

    Args:
        weights: Of the model.
        number: The block's number.
        adapters: The size of its adapters; ``None`` for none.
    """

    def __init__(self, weights: Weights, number: int, adapters: AdapterShape | None) -> None:
        super().__init__()
        self.shape = weights.shape
        own = {name.removeprefix(f"blk.{number}."): one for name, one in weights.tensors.items()}
        self.before, self.between = own["attn_norm.weight"], own["ffn_norm.weight"]
        self.attention_in = Projections(own, PROJECTIONS[:3], adapters)
        self.attention_out = Projections(own, PROJECTIONS[3:4], adapters)
        self.feed_in = Projections(own, PROJECTIONS[4:6], adapters)
        self.feed_out = Projections(own, PROJECTIONS[6:], adapters)

    def forward(
        self, hidden: torch.Tensor, rotary: tuple[torch.Tensor, ...], lengths: Sequence[Lengths]
    ) -> torch.Tensor:
        """The block's output for packed tokens."""
        shape = self.shape
        queries, keys, values = self.attention_in(
            functional.rms_norm(hidden, (shape.width,), self.before, shape.epsilon)
        )
        neighbours = FAMILIES[shape.family]
        queries = _turned(queries.view(-1, shape.heads, shape.head_width), rotary, neighbours)
        keys = _turned(keys.view(-1, shape.key_heads, shape.head_width), rotary, neighbours)
        values = values.view(-1, shape.key_heads, shape.head_width)
        attended = _attention(queries, keys, values, lengths)
        hidden = hidden + self.attention_out(attended.flatten(1))[0]
        gate, up = self.feed_in(functional.rms_norm(hidden, (shape.width,), self.between, shape.epsilon))
        return hidden + self.feed_out(functional.silu(gate) * up)[0]


class Projections(nn.Module):
    """Parallel projections of one input, each with an adapter.

    Args:
        own: The block's tensors.
        names: The projections.
        adapters: The size of the adapters; ``None`` for none.
    """

    def __init__(self, own: dict[str, torch.Tensor], names: Sequence[str], adapters: AdapterShape | None) -> None:
        super().__init__()
        self.names = tuple(names)
        parts = [own[f"{name}.weight"] for name in names]
        self.sizes = [len(part) for part in parts]
        self.weight = torch.cat(parts) if len(parts) > 1 else parts[0]
        biases = [own.get(f"{name}.bias") for name in names]
        self.bias = torch.cat([one for one in biases if one is not None]) if biases[0] is not None else None
        self.scale = adapters.alpha / adapters.rank if adapters is not None else 0.0
        self.down: nn.ParameterDict = nn.ParameterDict()
        self.up: nn.ParameterDict = nn.ParameterDict()
        if adapters is not None:
            width, device = self.weight.shape[1], self.weight.device
            for name, size in zip(names, self.sizes, strict=True):
                start = torch.empty(adapters.rank, width, device=device)
                nn.init.kaiming_uniform_(start, a=5**0.5)
                self.down[name] = nn.Parameter(start)
                self.up[name] = nn.Parameter(torch.zeros(size, adapters.rank, device=device))

    def forward(self, inputs: torch.Tensor) -> list[torch.Tensor]:
        """The outputs, one a projection."""
        outputs = list(functional.linear(inputs, self.weight, self.bias).split(self.sizes, dim=-1))
        if not self.down:
            return outputs
        together = torch.cat([self.down[name] for name in self.names]).to(inputs.dtype)
        low = functional.linear(inputs, together).split(len(together) // len(self.names), dim=-1)
        return [
            output + functional.linear(part, (self.up[name] * self.scale).to(inputs.dtype))
            for output, part, name in zip(outputs, low, self.names, strict=True)
        ]


def _places(parts: Lengths, device: torch.device) -> torch.Tensor:
    """The places of tokens in their conversations."""
    starts = (0, *(parts[0] for _ in parts[1:]))
    return torch.cat(
        [torch.arange(start, start + size, device=device) for start, size in zip(starts, parts, strict=True)]
    )


def _attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, lengths: Sequence[Lengths]
) -> torch.Tensor:
    """Causal attention within each conversation, shape ``(tokens, heads, head width)``."""
    found = []
    sizes = [sum(parts) for parts in lengths]
    for parts, *row in zip(lengths, *(part.split(sizes) for part in (queries, keys, values)), strict=True):
        query, key, value = (part.transpose(0, 1) for part in row)
        first = [part[:, : parts[0]] for part in (query, key, value)]
        if row[0].is_cuda or not row[0].requires_grad:
            grouped = [part.unsqueeze(0) for part in first]
            attended = functional.scaled_dot_product_attention(*grouped, is_causal=True, enable_gqa=True)[0]
        else:
            attended = _plain_attention(*first)
        further = [] if len(parts) == 1 else [_branch_attention(query, key, value, parts)]
        found.append(torch.cat([attended, *further], 1).transpose(0, 1))
    return torch.cat(found)


def _plain_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """The same by plain products, whose gradients are several times faster on a CPU."""
    heads, length, width = query.shape
    # All query heads of a key head are one product.
    grouped = query.reshape(len(key), -1, width)
    scores = torch.matmul(grouped, key.transpose(1, 2)).view(heads, length, length)
    hidden = torch.ones(length, length, dtype=torch.bool, device=query.device).triu_(1)
    shares = torch.softmax((scores * width**-0.5).masked_fill(hidden, -1e9), dim=-1)
    return torch.matmul(shares.view(len(key), -1, length), value).view(heads, length, width)


def _branch_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, parts: Lengths) -> torch.Tensor:
    """The attention of what follows a common beginning: each part attends to the beginning and to itself.

    The parts are padded to the longest one.
    """
    begin, *sizes = parts
    longest, device = max(sizes), query.device
    inside = torch.arange(longest, device=device) < torch.tensor(sizes, device=device).unsqueeze(1)
    slots = torch.zeros(len(sizes), longest, dtype=torch.long, device=device)
    slots[inside] = torch.arange(begin, sum(parts), device=device)
    heads, width = len(query), query.shape[2]
    groups = len(key)
    # (key heads, parts, query heads of a key head, longest, width)
    asked = query[:, slots].view(groups, heads // groups, len(sizes), longest, width).transpose(1, 2) * width**-0.5
    own_key, own_value = key[:, slots], value[:, slots]
    before = torch.matmul(asked.reshape(groups, -1, width), key[:, :begin].transpose(1, 2))
    own = torch.matmul(asked.reshape(groups, len(sizes), -1, width), own_key.transpose(2, 3))
    later = torch.ones(longest, longest, dtype=torch.bool, device=device).triu_(1)
    own = own.view(*asked.shape[:4], longest).masked_fill(later, -1e9)
    shares = torch.softmax(torch.cat([before.view(*asked.shape[:4], begin), own], -1), -1)
    attended = torch.matmul(shares[..., :begin].reshape(groups, -1, begin), value[:, :begin]).view(asked.shape)
    rest = torch.matmul(shares[..., begin:].reshape(groups, len(sizes), -1, longest), own_value).view(asked.shape)
    return (attended + rest).transpose(1, 2).reshape(heads, len(sizes), longest, width)[:, inside]


def _rotary(places: torch.Tensor, shape: Shape, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Cosine and sine of each token's place, for half of a head's dimensions."""
    halves = torch.arange(0, shape.head_width, 2, device=places.device, dtype=torch.float32) / shape.head_width
    angles = places.float().unsqueeze(1) * shape.rotary_base**-halves
    return angles.cos().to(dtype).unsqueeze(1), angles.sin().to(dtype).unsqueeze(1)


def _turned(heads: torch.Tensor, rotary: tuple[torch.Tensor, ...], neighbours: bool) -> torch.Tensor:
    """Heads with their dimensions turned by pairs: neighbours, or those half a head apart."""
    cosine, sine = rotary
    if neighbours:
        first, second = heads[..., 0::2], heads[..., 1::2]
        return torch.stack((first * cosine - second * sine, first * sine + second * cosine), dim=-1).flatten(-2)
    first, second = heads.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, first * sine + second * cosine), dim=-1)
