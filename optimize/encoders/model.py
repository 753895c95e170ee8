"""The encoder and its heads in torch: the same calculation as :mod:`kg.encoders`, with gradients.

>>> model = Reader(Encoder.pretrained(Path("all-MiniLM-L6-v2")), ["select(A)", "subtract(A, A)"])
>>> states = model.encoder.states([sequence])[0]        # (tokens, WIDTH)

The transformer sees texts alone: each question and each line of a report is a sequence of its own. Templates and
figures of earlier turns join afterwards, in one attention layer over the slots and the turns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name
from torch import Tensor, nn

from kg.encoders import TokenSequence, TurnOperands
from kg.encoders.encoder import JOINED, WIDTH
from kg.encoders.sequences import SPECIALS
from kg.errors import DataError

ATTENTION_HEADS, JOIN_HEADS = 12, 4
TOKEN_WIDTH = 128
"""Width of the vectors that compare the words of questions and reports."""

STATES_TOKENS = 4096
"""Tokens of one pass of the transformer, padding included."""

_WEIGHTS = "model.safetensors"
_MASKED = -1e4
_EARLIER = 3
"""The kind of an earlier turn; 0 to 2 are ``[CLS]`` and the slots."""


class Layer(nn.Module):
    """A transformer layer with the normalization after each part, as in BERT; training drops outputs of both parts."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)
        self.norm_1 = nn.LayerNorm(width, eps=1e-12)
        self.norm_2 = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """Returns the next states; ``bias`` of shape ``(batch, 1, 1, length)`` is added to the attention's scores."""
        batch, length, width = x.shape
        size = width // self.heads
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        scores = torch.matmul(q * (1 / math.sqrt(size)), k.transpose(-1, -2)) + bias
        mixed = torch.matmul(torch.softmax(scores, -1), v).transpose(1, 2).reshape(batch, length, width)
        x = self.norm_1(x + F.dropout(self.out(mixed), self.dropout, self.training))
        inner = F.gelu(self.up(x))
        return self.norm_2(x + F.dropout(self.down(inner), self.dropout, self.training))


class Encoder(nn.Module):
    """A BERT-like transformer with special tokens of its own.

    Attributes:
        frozen: The lowest layers, the embeddings with them, that training leaves as they are; 0 trains the special
            tokens and all layers.
    """

    def __init__(self, vocabulary: int, layers: int = 6, inner: int = 4 * WIDTH, places: int = 512) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.places = nn.Embedding(places, WIDTH)
        self.special = nn.Embedding(SPECIALS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList([Layer(WIDTH, ATTENTION_HEADS, inner, 0.0) for _ in range(layers)])
        self.frozen = 0
        nn.init.normal_(self.special.weight, std=0.02)
        with torch.no_grad():
            self.special.weight[0] = 0

    @classmethod
    def pretrained(cls, folder: Path) -> Encoder:
        """Reads ``model.safetensors`` of a sentence encoder, whose embeddings of pieces and places stay as they are.

        Raises:
            DataError: The file cannot be read, or its model has another layout or width.
        """
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            weights = load_file(folder / _WEIGHTS)
        except (OSError, SafetensorError) as error:
            raise DataError(f"the weights cannot be read: {error}", file=str(folder / _WEIGHTS)) from error
        found = {name.removeprefix("bert."): value.float() for name, value in weights.items()}
        try:
            words, places = (found[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position"))
            layers = 1 + max(int(name.split(".")[2]) for name in found if name.startswith("encoder.layer."))
            if words.shape[1] != WIDTH:
                raise DataError(f"the base model's states must be {WIDTH} wide, got {words.shape[1]}", file=str(folder))
            inner = len(found["encoder.layer.0.intermediate.dense.bias"])
            model = cls(len(words), layers, inner, len(places))
            with torch.no_grad():
                model.words.weight.copy_(words)
                model.places.weight.copy_(places + found["embeddings.token_type_embeddings.weight"][0])
                _copy(model.norm, found, "embeddings.LayerNorm")
                for number, layer in enumerate(model.layers):
                    _copy_layer(layer, found, f"encoder.layer.{number}.")
        except (KeyError, ValueError, IndexError, RuntimeError) as error:
            raise DataError(f"the base model is not BERT-like: {error!r}", file=str(folder / _WEIGHTS)) from error
        model.words.weight.requires_grad = False
        model.places.weight.requires_grad = False
        return model

    def forward(self, tokens: Tensor, specials: Tensor, mask: Tensor) -> Tensor:
        """Returns the states; all arguments have the shape ``(batch, length)``, and ``mask`` is true at tokens."""
        half = torch.is_autocast_enabled("cpu")
        bias = torch.where(mask, 0.0, _MASKED)[:, None, None, :]
        bias = bias.bfloat16() if half else bias
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.frozen == 0):
            x = self._embedded(tokens, specials)
            x = x.bfloat16() if half else x
        for number, layer in enumerate(self.layers):
            with torch.set_grad_enabled(torch.is_grad_enabled() and number >= self.frozen):
                x = layer(x, bias)
        return x

    def _embedded(self, tokens: Tensor, specials: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1])
        marked = (specials > 0)[..., None]
        return self.norm(torch.where(marked, self.special(specials), self.words(tokens)) + self.places(places))

    def states(self, sequences: Sequence[TokenSequence], most: int = STATES_TOKENS) -> list[Tensor]:
        """Returns the states of each sequence, shape ``(tokens, WIDTH)``; ``most`` tokens pass at a time."""
        found: list[Tensor | None] = [None] * len(sequences)
        for chunk in _chunks([len(one.tokens) for one in sequences], most):
            own = [sequences[place] for place in chunk]
            states = self(*padded(own))
            for row, place in enumerate(chunk):
                found[place] = states[row, : len(sequences[place].tokens)].float()
        return [state for state in found if state is not None]


def padded(sequences: Sequence[TokenSequence]) -> tuple[Tensor, Tensor, Tensor]:
    """Returns tokens, special tokens and mask of some sequences, in a length that is a multiple of 8."""
    length = -(-max(len(one.tokens) for one in sequences) // 8) * 8
    tokens = torch.zeros(len(sequences), length, dtype=torch.long)
    specials, mask = torch.zeros_like(tokens), torch.zeros(tokens.shape, dtype=torch.bool)
    for row, one in enumerate(sequences):
        size = len(one.tokens)
        tokens[row, :size] = torch.tensor(one.tokens)
        specials[row, :size] = torch.tensor(one.specials)
        mask[row, :size] = True
    return tokens, specials, mask


class Reader(nn.Module):
    """The encoder with the heads, whose weights :class:`kg.encoders.Heads` reads by the same names.

    Args:
        encoder: The transformer.
        templates: The names of the templates that it scores; any other one of an earlier turn counts as unknown.
        dropout: Of the heads.
    """

    def __init__(self, encoder: Encoder, templates: Sequence[str], dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.templates = tuple(templates)
        self.number = {template: place for place, template in enumerate(self.templates)}
        self.dropout = dropout
        count = len(self.templates)
        self.slot = nn.Linear(WIDTH, JOINED)
        self.figure = nn.Linear(WIDTH, JOINED)
        self.past_form = nn.Embedding(count + 1, JOINED)
        self.past_used = nn.Embedding(2, JOINED)
        self.past_figure = nn.Linear(JOINED, JOINED, bias=False)
        self.kind = nn.Embedding(_EARLIER + 1, JOINED)
        self.join = Layer(JOINED, JOIN_HEADS, 2 * JOINED, dropout)
        self.form = nn.Linear(JOINED, count)
        self.role = nn.Embedding(2 * count, JOINED)
        self.first = nn.Linear(JOINED, JOINED, bias=False)
        self.ask = nn.Linear(JOINED, JOINED)
        self.ask_2 = nn.Linear(JOINED, JOINED)
        self.turn = nn.Linear(JOINED, JOINED)
        self.scale = nn.Parameter(torch.tensor(0.0))
        self.token = nn.Linear(WIDTH, TOKEN_WIDTH, bias=False)
        self.heard = nn.Linear(WIDTH, JOINED)
        self.listen = nn.Linear(JOINED, JOINED)
        self.loud = nn.Parameter(torch.tensor(1.0))
        nn.init.orthogonal_(self.token.weight)
        for one in (self.past_form, self.past_used, self.kind, self.role):
            nn.init.normal_(one.weight, std=0.1)

    def joined(
        self,
        states: Sequence[Tensor],
        pasts: Sequence[Sequence[TurnOperands]],
        numbers: Sequence[Sequence[int]],
        figures: Sequence[Tensor],
    ) -> tuple[Tensor, Tensor]:
        """Returns slots, shape ``(turns, 3, JOINED)``, and earlier turns, ``(turns, most, JOINED)``, under a history.

        ``states`` has the states at ``[CLS]``, the slots and the earlier turns ``numbers`` of each turn.
        """
        most = max(len(state) for state in states)
        kinds = torch.full((len(states), most), _EARLIER)
        kinds[:, :_EARLIER] = torch.arange(_EARLIER)
        mask = torch.zeros(len(states), most, dtype=torch.bool)
        templates = torch.full((len(states), most), len(self.templates))
        used = torch.zeros(len(states), most, dtype=torch.long)
        seen = torch.zeros(len(states), most, JOINED)
        for row, (past, own) in enumerate(zip(pasts, numbers, strict=True)):
            mask[row, : _EARLIER + len(own)] = True
            later = {place for turn in past for place in turn.used}
            for column, number in enumerate(own, start=_EARLIER):
                templates[row, column] = self.number.get(past[number].template, len(self.templates))
                used[row, column] = int(number in later)
                known = [one for one in past[number].figures[:2] if one < len(figures[row])]
                if known:
                    seen[row, column] = figures[row][known].mean(0)
        x = self.slot(nn.utils.rnn.pad_sequence(list(states), batch_first=True)) + self.kind(kinds)
        is_earlier = (kinds == _EARLIER)[..., None]
        x = x + is_earlier * (self.past_form(templates) + self.past_used(used) + self.past_figure(seen))
        x = self.join(x, torch.where(mask, 0.0, _MASKED)[:, None, None, :])
        return x[:, :_EARLIER], self.turn(x[:, _EARLIER:])

    def template_logits(self, slots: Tensor) -> Tensor:
        """Returns the templates' scores."""
        return self.form(F.dropout(slots[:, 0], self.dropout, self.training))

    def unit_vectors(self, states: Tensor) -> Tensor:
        """Returns the tokens' vectors of length 1, which are compared word by word."""
        return F.normalize(self.token(states), dim=-1)

    def queries(
        self, slots: Tensor, templates: Tensor, position: int, first: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Returns the queries of an operand and what they listen to, each of shape ``(turns, JOINED)``.

        At position 1, ``first`` has the vectors of the first operands.
        """
        x = self.ask(slots[:, 1 + position]) + self.role(templates * 2 + position)
        if first is not None:
            x = x + self.first(first)
        x = F.gelu(x)
        return self.ask_2(x) * (torch.exp(self.scale) / math.sqrt(JOINED)), self.listen(x) / math.sqrt(JOINED)

    def word_weights(self, heard: Tensor, listened: Tensor) -> Tensor:
        """Returns how much each word of a question counts for a query, larger than 0."""
        return F.softplus(heard @ listened + self.loud)


def _copy(module: nn.Module, weights: dict[str, Tensor], name: str) -> None:
    module.weight.copy_(weights[f"{name}.weight"])
    module.bias.copy_(weights[f"{name}.bias"])


def _copy_layer(layer: Layer, weights: dict[str, Tensor], name: str) -> None:
    for part in ("weight", "bias"):
        own = [weights[f"{name}attention.self.{which}.{part}"] for which in ("query", "key", "value")]
        getattr(layer.qkv, part).copy_(torch.cat(own))
    _copy(layer.out, weights, f"{name}attention.output.dense")
    _copy(layer.norm_1, weights, f"{name}attention.output.LayerNorm")
    _copy(layer.up, weights, f"{name}intermediate.dense")
    _copy(layer.down, weights, f"{name}output.dense")
    _copy(layer.norm_2, weights, f"{name}output.LayerNorm")


def _chunks(sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """The places of sequences, sorted by length, in groups of at most ``most`` tokens or of one sequence."""
    chunk: list[int] = []
    for place in sorted(range(len(sizes)), key=sizes.__getitem__):
        if chunk and sizes[place] * (len(chunk) + 1) > most:
            yield chunk
            chunk = []
        chunk.append(place)
    if chunk:
        yield chunk
