"""Fits the reader of questions and parses on the development parts of the graphs.

    python benchmarks/collect_parses.py parses
    python benchmarks/fit_parse_reader.py parses/*.pickle

It needs torch of the extra ``train``, and the weights of the extra ``news``. The pretrained transformer has low-rank
changes of its upper layers and a head, which are fitted. The loss is that of choosing a right parse among those that
are read and "none". The fit goes on from the reader that ships, or from the weights that ``--begin`` names.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from collect_parses import Asked, read

from kg.arrays import read_arrays
from kg.encoders import (
    FIRST_POSITION,
    HEADS,
    LAYERS,
    WIDTH,
    batches,
    installed_weights,
    padded,
    relative_buckets,
    word_pieces,
)
from kg.parsing import Ranker, chosen
from kg.parsing.ranking import READER_FILE, pieces_of

Array = npt.NDArray[np.float32]

RANK, HIDDEN = 24, 256
BATCH = 24
"""Sequences that are read at once; they have about the same length."""

FROZEN = 4
"""Layers, the lowest, that are not changed."""

RATE, QUESTIONS = 5e-4, 8
FITTED = 8
"""Derivations of a turn that are fitted on; more take longer and are seldom right."""

Row = tuple[Asked, list[int]]
"""A turn, and the places of its derivations that are read."""


def fitted_places(turn: Asked, ranker: Ranker) -> list[int]:
    """The derivations of a turn that are fitted on: the first that are read, and a right one if there is any."""
    ranked = ranker.scores_of(turn.evidence)
    order, texts = np.argsort(-ranked, kind="stable").tolist(), [tuple(pair) for pair in turn.texts.tolist()]
    kept = chosen(order, turn.answers.tolist(), texts)[:FITTED]
    if not turn.right[kept].any() and turn.right.any():
        right = np.flatnonzero(turn.right)
        kept.append(int(right[ranked[right].argmax()]))
    return kept


def transformer() -> Any:
    """Returns the transformer with low-rank changes of its upper layers and a head for spans, as a module of torch."""
    import torch
    from torch import nn
    from torch.nn import functional

    weights = installed_weights()

    class Linear(nn.Module):
        def __init__(self, matrix: Array, bias: Array, rank: int) -> None:
            super().__init__()
            self.register_buffer("matrix", _half(matrix), persistent=False)
            self.register_buffer("bias", _half(bias), persistent=False)
            self.rank = rank
            if rank:
                self.down = nn.Parameter(torch.randn(matrix.shape[0], rank) / matrix.shape[0] ** 0.5)
                self.up = nn.Parameter(torch.zeros(rank, matrix.shape[1]))

        def forward(self, given: torch.Tensor) -> torch.Tensor:
            unchanged = functional.linear(given, self.matrix.t(), self.bias)
            return unchanged + given @ self.down.to(given.dtype) @ self.up.to(given.dtype) if self.rank else unchanged

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name in ("words", "positions", "relative"):
                self.register_buffer(name, torch.tensor(weights[name]), persistent=False)
            norms = [(weights[f"norm_{n}.weight"], weights[f"norm_{n}.bias"]) for n in range(2 * LAYERS + 1)]
            linears = [(weights[f"linear_{n}.matrix"], weights[f"linear_{n}.bias"]) for n in range(6 * LAYERS)]
            self.norms = [list(map(_half, norm)) for norm in norms]
            self.linears = nn.ModuleList(Linear(*own, RANK * (n >= 6 * FROZEN)) for n, own in enumerate(linears))
            self.hidden = nn.Linear(3 * WIDTH, HIDDEN)
            self.out = nn.Linear(HIDDEN, 1)
            self.drop = nn.Dropout(0.1)

        def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            length = tokens.shape[1]
            places = torch.arange(FIRST_POSITION, FIRST_POSITION + length)
            states = self._normal((self.words[tokens] + self.positions[places]).to(torch.bfloat16), 0)
            bias = self.relative[torch.tensor(relative_buckets(length))].permute(2, 0, 1)[None]
            bias = (bias + torch.where(mask[:, None, None, :] > 0, 0.0, -1e4)).to(torch.bfloat16)
            for layer in range(LAYERS):
                with torch.set_grad_enabled(torch.is_grad_enabled() and layer >= FROZEN):
                    states = self._layer(states, bias, layer)
            return states.float()

        def _normal(self, states: torch.Tensor, number: int) -> torch.Tensor:
            return functional.layer_norm(states, (WIDTH,), *self.norms[number], 1e-5)

        def _layer(self, states: torch.Tensor, bias: torch.Tensor, layer: int) -> torch.Tensor:
            query, key, value, mix, wide, narrow = self.linears[6 * layer : 6 * layer + 6]
            shape = states.shape[:2]
            split = [one(states).view(*shape, HEADS, -1).transpose(1, 2) for one in (query, key, value)]
            shares = torch.softmax(split[0] @ split[1].transpose(2, 3) / (WIDTH / HEADS) ** 0.5 + bias, dim=-1)
            found = mix((shares @ split[2]).transpose(1, 2).reshape(*shape, WIDTH))
            states = self._normal(states + found, 2 * layer + 1)
            return self._normal(states + narrow(functional.gelu(wide(states))), 2 * layer + 2)

        def scores(self, states: torch.Tensor, rows: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
            joined = torch.cat([states[rows, spans[:, 0]], states[rows, spans[:, 1]], states[rows, 0]], dim=1)
            return self.out(self.drop(functional.relu(self.hidden(joined)))).squeeze(1)

    return Transformer()


def _half(values: Array) -> Any:
    """Returns a tensor of 16 bits."""
    import torch

    return torch.tensor(values).to(torch.bfloat16)


def turn_scores(model: Any, rows: Sequence[Row]) -> list[Any]:
    """Returns the scores of the derivations of each turn that are read, as :class:`kg.encoders.LowRankTransformer`."""
    import torch

    given = [pieces_of(*turn.texts[place]) for turn, places in rows for place in places]
    found: dict[int, Any] = {}
    for batch in batches([pieces for pieces, _ in given], BATCH):
        sequences = padded([given[place][0] for place in batch], word_pieces().numbers["<pad>"])
        spans = torch.tensor([given[place][1] for place in batch])
        scores = model.scores(model(*map(torch.tensor, sequences)), torch.arange(len(batch)), spans)
        found.update(zip(batch, scores, strict=True))
    ordered = torch.stack([found[place] for place in range(len(given))])
    return list(torch.split(ordered, [len(places) for _, places in rows]))


def choice_loss(scores: Any, right: Sequence[bool]) -> Any:
    """Returns the loss of choosing a right one among scores and "none", whose score is 0."""
    import torch

    values = torch.cat([scores, torch.zeros(1)])
    mask = torch.tensor([*right, not any(right)], dtype=torch.bool)
    return torch.logsumexp(values, 0) - torch.logsumexp(values[mask], 0)


def train(model: Any, rows: Sequence[Row], rate: float) -> None:
    """Fits the changes and the head on turns, each of which is seen once, up to a largest learning rate."""
    import torch

    steps = len(rows) // QUESTIONS + 1
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rate, total_steps=steps + 1, pct_start=0.1)
    model.train()
    for step in range(0, len(rows), QUESTIONS):
        some = rows[step : step + QUESTIONS]
        scores = turn_scores(model, some)
        losses = [choice_loss(one, turn.right[places]) for one, (turn, places) in zip(scores, some, strict=True)]
        loss = torch.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        print(f"{step + len(some)} of {len(rows)} turns, loss {loss.item():.3f}", flush=True)


def arrays_of(model: Any) -> dict[str, Array]:
    """Returns the fitted arrays as :class:`kg.encoders.LowRankTransformer` reads them."""
    found: dict[str, Array] = {}
    for number, linear in enumerate(model.linears):
        if linear.rank:
            found[f"down_{number}"] = linear.down.detach().numpy().astype(np.float16)
            found[f"up_{number}"] = linear.up.detach().numpy().astype(np.float16)
    found["hidden"] = model.hidden.weight.detach().numpy().T.astype(np.float16)
    found["hidden_bias"] = model.hidden.bias.detach().numpy()
    found["out"] = model.out.weight.detach().numpy()[0]
    found["out_bias"] = model.out.bias.detach().numpy()[0]
    return found


def begun_from(model: Any, fitted: Mapping[str, Array]) -> None:
    """Sets the changes, and the head if it is of this kind, to fitted ones of no higher rank."""
    import torch

    with torch.no_grad():
        for number, linear in enumerate(model.linears):
            if linear.rank and f"down_{number}" in fitted:
                down, up = (
                    torch.tensor(np.asarray(fitted[f"{name}_{number}"], dtype=np.float32)) for name in ("down", "up")
                )
                linear.down[:, : len(up)] = down
                linear.up[: len(up)] = up
        for name, layer in (("hidden", model.hidden), ("out", model.out)) if "hidden" in fitted else ():
            matrix = torch.tensor(np.asarray(fitted[name], dtype=np.float32))
            layer.weight.copy_(matrix.T if matrix.ndim > 1 else matrix[None])
            layer.bias.copy_(torch.tensor(np.asarray(fitted[f"{name}_bias"], dtype=np.float32)))


def main() -> None:
    """Fits the reader and writes it."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="what collect_parses.py wrote")
    parser.add_argument("--rate", type=float, default=RATE, help="the largest learning rate")
    parser.add_argument("--begin", type=Path, default=READER_FILE, metavar="FILE", help="weights to begin with")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    ranker = Ranker.shipped()
    turns = [turn for file in options.files for turn in read(file) if len(turn.answers)]
    rows = [(turn, fitted_places(turn, ranker)) for turn in turns]
    print(f"{len(rows)} turns")
    model = transformer()
    begun_from(model, read_arrays(options.begin))
    train(model, random.Random(0).sample(rows, len(rows)), options.rate)
    np.savez_compressed(READER_FILE, **arrays_of(model))


if __name__ == "__main__":
    main()
