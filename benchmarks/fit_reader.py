"""Fits the reader of questions and sentences on made-up events.

$ python benchmarks/fit_reader.py --write

It needs torch and onnx of the extra ``train``, and the weights of the extra ``news``. The upper four layers of the
transformer get a change of low rank, and a head scores the spans of values. The loss is that of choosing the right
value among all values of a question's sentences and "none". No question of the news sets is used, so
``benchmarks/fit_clauses.py`` can rank all of them by this reader.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kg.clauses.meaning import WIDTH, installed_weights, padded, word_pieces
from kg.clauses.reader import FILE, Pieces, Reading, pieces_of, stored_matrices

Array = npt.NDArray[np.float32]

RANK, HIDDEN = 16, 128
RATE, QUESTIONS = 1e-3, 8

BATCH = 24
"""Sentences that are read at once; they have about the same length."""

MADE, MOST_SENTENCES = 6400, 5
"""Made-up questions, and the most sentences of one."""

SHOWN = 40
"""Steps after which the loss is printed."""

HEADS, LAYERS = 12, 6

_WITHIN = ((0, 8, 16, 56, 60, 69), *((0, 8, 16, 54, 58, 67),) * 5)
MATRICES = [
    f"val_{first + place}"
    for first, within in zip((49, 122, 193, 264, 335, 406), _WITHIN, strict=True)
    for place in within
]
"""The names of the transformer's matrices in its file: six in each of its layers."""

FROZEN = 2
"""Layers, the lowest, that are not changed."""


def transformer(content: bytes) -> Any:
    """Returns the transformer with its low-rank changes and the head as a module of torch."""
    import onnx
    import torch
    from onnx import numpy_helper
    from torch import nn
    from torch.nn import functional

    model = onnx.load_from_string(content)
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    places = np.array(
        [
            [
                content.find(_raw(model, f"{name}_q")),
                *constants[f"{name}_q"].shape,
                content.find(_raw(model, f"{name}_scale")),
            ]
            for name in MATRICES
        ]
    )
    weights = stored_matrices(content, places)

    def constant(name: str) -> torch.Tensor:
        return torch.tensor(np.array(constants[f"inner.{name}"], dtype=np.float32))

    def embedding(name: str) -> torch.Tensor:
        stored = constants[f"inner.{name}_q"].astype(np.float32) * constants[f"inner.{name}_scale"]
        return torch.tensor(stored)

    class Linear(nn.Module):
        def __init__(self, matrix: Array, bias: torch.Tensor) -> None:
            super().__init__()
            self.register_buffer("matrix", torch.tensor(matrix).to(torch.bfloat16))
            self.register_buffer("bias", bias.to(torch.bfloat16))
            self.down = nn.Parameter(torch.randn(matrix.shape[0], RANK) / matrix.shape[0] ** 0.5)
            self.up = nn.Parameter(torch.zeros(RANK, matrix.shape[1]))

        def forward(self, given: torch.Tensor) -> torch.Tensor:
            change = (given @ self.down.to(given.dtype)) @ self.up.to(given.dtype)
            return given @ self.matrix + change + self.bias

    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.places = places
            self.register_buffer("words", embedding("embeddings.word_embeddings.weight"))
            self.register_buffer("positions", embedding("embeddings.position_embeddings.weight"))
            self.register_buffer("types", constant("embeddings.token_type_embeddings.weight"))
            self.norms = [
                (constant(f"{name}.LayerNorm.weight"), constant(f"{name}.LayerNorm.bias"))
                for name in (
                    "embeddings",
                    *(
                        f"encoder.layer.{layer}.{part}.output".replace("feed.output", "output")
                        for layer in range(LAYERS)
                        for part in ("attention", "feed")
                    ),
                )
            ]
            names = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
                     "intermediate.dense", "output.dense")  # fmt: skip
            self.linears = nn.ModuleList(
                Linear(matrix, constant(f"encoder.layer.{number // 6}.{names[number % 6]}.bias"))
                for number, matrix in enumerate(weights)
            )
            self.hidden = nn.Linear(3 * WIDTH, HIDDEN)
            self.out = nn.Linear(HIDDEN, 1)
            self.drop = nn.Dropout(0.1)

        def forward(self, tokens: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
            states = self.words[tokens] + self.positions[: tokens.shape[1]] + self.types[types]
            states = self._normal(states.to(torch.bfloat16), 0)
            bias = torch.where(mask[:, None, None, :] > 0, 0.0, -1e4).to(torch.bfloat16)
            for layer in range(LAYERS):
                with torch.set_grad_enabled(torch.is_grad_enabled() and layer >= FROZEN):
                    states = self._layer(states, bias, layer)
            return states.float()

        def _normal(self, states: torch.Tensor, number: int) -> torch.Tensor:
            weight, bias = self.norms[number]
            return functional.layer_norm(states, (WIDTH,), weight.to(states.dtype), bias.to(states.dtype), 1e-12)

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

    return Reader()


def _raw(model: Any, name: str) -> bytes:
    return next(bytes(one.raw_data) for one in model.graph.initializer if one.name == name)


def question_scores(model: Any, rows: Sequence[dict[str, Any]]) -> list[Any]:
    """Returns for each question the scores of the spans of its sentences, in their order."""
    import torch

    wordpiece = word_pieces()
    pieces: list[Pieces] = []
    for row in rows:
        readings = [Reading(one["context"], one["words"], one["spans"]) for one in row["readings"]]
        pieces += [pieces_of(wordpiece, row["question"], reading) for reading in readings]
    order = sorted(range(len(pieces)), key=lambda place: len(pieces[place].numbers))
    parts: dict[int, Any] = {}
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        given = padded([pieces[place].numbers for place in batch], [pieces[place].kinds for place in batch])
        states = model(*(torch.tensor(given[name]) for name in ("input_ids", "attention_mask", "token_type_ids")))
        table = torch.tensor([(row, *span) for row, place in enumerate(batch) for span in pieces[place].spans])
        counts = [len(pieces[place].spans) for place in batch]
        parts.update(zip(batch, torch.split(model.scores(states, table[:, 0], table[:, 1:]), counts), strict=True))
    scores = torch.cat([parts[place] for place in range(len(pieces))])
    return list(torch.split(scores, [len(row["right"]) for row in rows]))


def train(model: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Fits the changes and the head on questions, each of which is seen once."""
    import torch

    steps = len(rows) // QUESTIONS + 1
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=RATE, total_steps=steps + 1, pct_start=0.1)
    model.train()
    begun, total = time.monotonic(), 0.0
    for step in range(0, len(rows), QUESTIONS):
        batch = rows[step : step + QUESTIONS]
        losses = []
        for row, found in zip(batch, question_scores(model, batch), strict=True):
            values = torch.cat([found, torch.zeros(1)])
            mask = torch.tensor([*row["right"], not any(row["right"])], dtype=torch.bool)
            losses.append(torch.logsumexp(values, 0) - torch.logsumexp(values[mask], 0))
        loss = torch.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += loss.item()
        number = step // QUESTIONS + 1
        if number % SHOWN == 0:
            print(f"{number}/{steps} steps, loss {total / SHOWN:.3f}, {time.monotonic() - begun:.0f} s", flush=True)
            total = 0.0


def stored(model: Any) -> dict[str, Array]:
    """Returns the fitted arrays of a reader as :class:`kg.clauses.reader.SpanReader` reads them."""
    found = {"places": model.places.astype(np.int64)}
    for number, linear in enumerate(model.linears):
        if number >= 6 * FROZEN:
            found[f"down_{number}"] = linear.down.detach().numpy().astype(np.float16)
            found[f"up_{number}"] = linear.up.detach().numpy().astype(np.float16)
    found["hidden"] = model.hidden.weight.detach().numpy().T.astype(np.float16)
    found["hidden_bias"] = model.hidden.bias.detach().numpy()
    found["out"] = model.out.weight.detach().numpy()[0]
    found["out_bias"] = model.out.bias.detach().numpy()[0]
    return found


def main() -> None:
    """Fits the reader and writes it."""
    import torch
    from made_readings import made

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=MADE, help="made-up questions")
    parser.add_argument("--seed", type=int, default=0, help="of the questions and the weights")
    parser.add_argument("--begin", type=Path, metavar="FILE", help="weights of torch to begin with")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where weights of torch are written, to go on with")
    parser.add_argument("--write", action="store_true", help="write the reader that ships")
    arguments = parser.parse_args()
    content = installed_weights()
    if content is None:
        raise SystemExit("the weights of the extra 'news' are not installed")
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    model = transformer(content)
    if arguments.begin:
        model.load_state_dict(torch.load(arguments.begin))
    train(model, made(arguments.questions, seed=arguments.seed, most=MOST_SENTENCES))
    if arguments.keep:
        torch.save(model.state_dict(), arguments.keep)
    if arguments.write:
        np.savez_compressed(FILE, **stored(model))


if __name__ == "__main__":
    main()
