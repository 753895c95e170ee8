"""Replies of an embedded model to many prompts at once, computed by torch, for measurements.

    >>> model = BatchReplies(settings)                  # the settings of an EmbeddedEngine
    >>> model.replies([messages], most=64)[0].text
    'Orvane'

The weights, the adapter, the tokens and the template are the runtime's own (:mod:`benchmarks.torch_engine`). The most
probable tokens are written, without a grammar. Prompts with a common beginning are read together. On a processor with
matrix instructions a prompt takes about a tenth of the runtime's time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch.nn import functional

from optimize.finetuning.export import adapter_shape, read_adapter
from optimize.finetuning.model import AdapterShape, Block, Decoder, _attention, _places, _rotary, _turned
from optimize.finetuning.sequences import MemoTokeniser, TokenSequence, joined
from optimize.finetuning.weights import FAMILIES, read_weights
from programs.lm import EmbeddedEngine, EngineSettings

LARGEST = 4096
"""Tokens of prompts that are read together at the most."""

Cache = list[tuple[torch.Tensor, torch.Tensor]]
"""Keys and values of each block."""


@dataclass
class Written:
    """A reply.

    Attributes:
        tokens: Its tokens, the end among them.
        probable: The logarithms of their probabilities.
        first: The logarithms of the probabilities of all first tokens.
        text: Its text.
    """

    first: torch.Tensor
    tokens: list[int] = field(default_factory=list)
    probable: list[float] = field(default_factory=list)
    text: str = ""


class BatchReplies:
    """A model that replies to many prompts.

    Args:
        settings: The weights and the adapter.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self.engine = EmbeddedEngine(settings)
        self.tokeniser = MemoTokeniser(self.engine)
        adapter = settings.adapter
        shape = adapter_shape(adapter) if adapter is not None else AdapterShape(8, 16.0, 0)
        self.model = Decoder(read_weights(settings.path, torch.bfloat16, torch.device("cpu")), shape).eval()
        if adapter is not None:
            read_adapter(self.model, adapter)

    @torch.inference_mode()
    def replies(self, prompts: Sequence[Sequence[Mapping[str, str]]], most: int) -> list[Written]:
        """Returns the replies.

        Args:
            prompts: The messages of each prompt; those with a common beginning should follow each other.
            most: Tokens of a reply at the most.
        """
        tokens = [self.tokeniser.token_ids(self.tokeniser.template(one), begins=True, marks=True) for one in prompts]
        found: list[Written] = []
        for batch in _batches(tokens):
            found += self._replied(batch, most)
        return found

    def _replied(self, groups: Sequence[Sequence[list[int]]], most: int) -> list[Written]:
        caches: list[Cache] = []
        written: list[Written] = []
        lengths: list[int] = []
        for group in groups:
            sequence = joined([TokenSequence(tokens=list(one)) for one in group])
            last, own = self._read(sequence)
            first = torch.log_softmax(functional.linear(last, self.model.output).float(), -1)
            written += [Written(one) for one in first]
            caches += own
            lengths += map(len, group)
        after = torch.stack([one.first for one in written])
        going = list(range(len(written)))
        for step in range(most):
            best = after.argmax(-1).tolist()
            for row, place in enumerate(going):
                written[place].tokens.append(best[row])
                written[place].probable.append(float(after[row, best[row]]))
            going = [place for row, place in enumerate(going) if best[row] != self.tokeniser.end]
            if not going:
                break
            after = self._next(going, written, caches, [lengths[place] + step for place in going])
        for one in written:
            kept = [token for token in one.tokens if token != self.tokeniser.end]
            one.text = str(self.engine._asked("/detokenize", {"tokens": kept})["content"]).strip()
        return written

    def _read(self, sequence: TokenSequence) -> tuple[torch.Tensor, list[Cache]]:
        """Returns the hidden states of the last token of each prompt, and their keys and values."""
        parts, model, shape = sequence.lengths, self.model, self.model.shape
        places = _places(parts, torch.device("cpu"))
        rotary = _rotary(places, shape, model.embedding.dtype)
        hidden = functional.embedding(torch.tensor(sequence.tokens), model.embedding)
        ends = [sum(parts[: number + 1]) for number in range(len(parts))]
        own: list[Cache] = [[] for _ in parts[1:] or parts]
        for block in model.blocks:
            assert isinstance(block, Block)
            query, key, value = self._heads(block, hidden, rotary)
            for number, cache in enumerate(own):
                inside = slice(ends[number], ends[number + 1]) if parts[1:] else slice(0, 0)
                cache.append(tuple(torch.cat([one[: parts[0]], one[inside]]) for one in (key, value)))  # type: ignore[arg-type]
            hidden = self._after(block, hidden, _attention(query, key, value, [parts]))
        last = [end - 1 for end in (ends[1:] or ends)]
        return functional.rms_norm(hidden[last], (shape.width,), model.norm, shape.epsilon), own

    def _next(
        self, going: Sequence[int], written: Sequence[Written], caches: Sequence[Cache], places: Sequence[int]
    ) -> torch.Tensor:
        """Returns the log-probabilities of the token after the last written one of each reply."""
        model, shape = self.model, self.model.shape
        rotary = _rotary(torch.tensor(places), shape, model.embedding.dtype)
        hidden = functional.embedding(torch.tensor([written[place].tokens[-1] for place in going]), model.embedding)
        for number, block in enumerate(model.blocks):
            assert isinstance(block, Block)
            query, key, value = self._heads(block, hidden, rotary)
            rows = []
            for row, place in enumerate(going):
                before = caches[place][number]
                keys, values = torch.cat([before[0], key[row : row + 1]]), torch.cat([before[1], value[row : row + 1]])
                caches[place][number] = keys, values
                heads = [one.transpose(0, 1).unsqueeze(0) for one in (query[row : row + 1], keys, values)]
                rows.append(functional.scaled_dot_product_attention(*heads, enable_gqa=True)[0].transpose(0, 1))
            hidden = self._after(block, hidden, torch.cat(rows))
        hidden = functional.rms_norm(hidden, (shape.width,), model.norm, shape.epsilon)
        return torch.log_softmax(functional.linear(hidden, model.output).float(), -1)

    def _heads(
        self, block: Block, hidden: torch.Tensor, rotary: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        shape = self.model.shape
        query, key, value = block.attention_in(functional.rms_norm(hidden, (shape.width,), block.before, shape.epsilon))
        neighbours = FAMILIES[shape.family]
        query = _turned(query.view(-1, shape.heads, shape.head_width), rotary, neighbours)
        key = _turned(key.view(-1, shape.key_heads, shape.head_width), rotary, neighbours)
        return query, key, value.view(-1, shape.key_heads, shape.head_width)

    def _after(self, block: Block, hidden: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        shape = self.model.shape
        hidden = hidden + block.attention_out(attended.flatten(1))[0]
        gate, up = block.feed_in(functional.rms_norm(hidden, (shape.width,), block.between, shape.epsilon))
        return hidden + block.feed_out(functional.silu(gate) * up)[0]


def _batches(prompts: Sequence[list[int]]) -> Iterator[list[list[list[int]]]]:
    """Yields groups of prompts with a common beginning, several together up to a number of tokens."""
    batch: list[list[list[int]]] = []
    count = 0
    for one in prompts:
        last = batch[-1][0] if batch else []
        shared = next((place for place, pair in enumerate(zip(one, last, strict=False)) if pair[0] != pair[1]), 0)
        is_near = shared > len(one) / 2
        added = len(one) - shared if is_near else len(one)
        if batch and count + added > LARGEST:
            yield batch
            batch, count, is_near, added = [], 0, False, len(one)
        if is_near:
            batch[-1].append(one)
        else:
            batch.append([one])
        count += added
    if batch:
        yield batch
