"""Fits the reader of questions and sentences on the development parts of the news sets and on made-up events.

$ python benchmarks/fit_reader.py --collect readings.json
$ python benchmarks/fit_reader.py --fit readings.json --write

The first command needs the extra ``news``, the second one ``train``. The transformer's matrices get a change of low
rank, and a head scores the spans of values. The loss is that of choosing the right value among all values of a question
and "none". ``--fold`` leaves sets out and writes their scores, by which ``benchmarks/fit_clauses.py`` ranks.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kg.clauses.meaning import WIDTH, installed_weights, padded, word_pieces
from kg.clauses.reader import FILE, Pieces, Reading, pieces_of, stored_matrices

Array = npt.NDArray[np.float32]

RANK, HIDDEN = 16, 128
RATE, EPOCHS, QUESTIONS = 1e-3, 2, 8
MOST_READINGS = 5
"""Sentences of a question in training: those with right values, and the first others."""

BATCH = 24
"""Sentences that are read at once; they have about the same length."""

MADE = 1600
"""Made-up questions that the reader is fitted on first."""

FOLDS = (
    ("writers_news_a", "news_varied", "news_styles"),
    ("writers_news_b", "news", "news_further", "news_groups"),
)
"""Sets that are left out together."""

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


def bert(content: bytes) -> Any:
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


def collected() -> list[dict[str, Any]]:
    """Returns the questions of all sets with the sentences and spans of their candidates; none for yes or no."""
    from fit_clauses import PARTS, examples

    return [reading_row(one) for name in PARTS for one in examples(name) if one.candidates]


def reading_row(one: Any) -> dict[str, Any]:
    """Returns a question of :mod:`fit_clauses` as one that is read."""
    from kg.clauses import readings_of

    readings, places = readings_of(one.candidates, one.library)
    return {
        "set": one.set,
        "question": one.text,
        "answerable": bool(one.gold),
        "readings": [{"context": each.context, "words": each.words, "spans": each.spans} for each in readings],
        "places": places,
        "right": one.right.astype(int).tolist(),
    }


def example_of(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a question with the pieces of its sentences."""
    wordpiece = word_pieces()
    readings = [Reading(one["context"], one["words"], one["spans"]) for one in row["readings"]]
    return {**row, "pieces": [pieces_of(wordpiece, row["question"], reading) for reading in readings]}


def shortened(example: dict[str, Any], generator: random.Random) -> list[int]:
    """Returns the numbers of the sentences that are read in training: those with right values, the first and others."""
    right = [
        number for number, places in enumerate(example["places"]) if any(example["right"][place] for place in places)
    ]
    others = [number for number in range(len(example["places"])) if number not in right]
    kept = right[:2] + others[:2]
    rest = others[2:]
    return kept + generator.sample(rest, min(len(rest), max(MOST_READINGS - len(kept), 0)))


def question_scores(model: Any, examples: Sequence[dict[str, Any]], chosen: Sequence[Sequence[int]]) -> list[Any]:
    """Returns for each question the scores of the spans of the chosen sentences, in their order."""
    import torch

    pieces: list[Pieces] = [
        one["pieces"][number] for one, kept in zip(examples, chosen, strict=True) for number in kept
    ]
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
    found, start, row = [], 0, 0
    for kept in chosen:
        count = sum(len(pieces[row + number].spans) for number in range(len(kept)))
        found.append(scores[start : start + count])
        start, row = start + count, row + len(kept)
    return found


def train(model: Any, rows: Sequence[dict[str, Any]], epochs: int, seed: int = 0, rate: float = RATE) -> None:
    """Fits the changes and the head on questions."""
    import torch

    generator = random.Random(seed)
    examples = [example_of(row) for row in rows]
    steps = epochs * (len(examples) // QUESTIONS + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rate, total_steps=steps + 1, pct_start=0.1)
    model.train()
    begun, seen, total = time.monotonic(), 0, 0.0
    for _ in range(epochs):
        generator.shuffle(examples)
        for start in range(0, len(examples), QUESTIONS):
            batch = examples[start : start + QUESTIONS]
            chosen = [shortened(one, generator) for one in batch]
            scores = question_scores(model, batch, chosen)
            loss = torch.zeros(())
            for one, kept, found in zip(batch, chosen, scores, strict=True):
                right = [one["right"][place] for number in kept for place in one["places"][number]]
                values = torch.cat([found, torch.zeros(1)])
                mask = torch.tensor([*right, not any(right)], dtype=torch.bool)
                loss = loss + torch.logsumexp(values, 0) - torch.logsumexp(values[mask], 0)
            loss = loss / len(batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            seen, total = seen + 1, total + loss.item()
            if seen % 40 == 0:
                print(f"{seen}/{steps} steps, loss {total / 40:.3f}, {time.monotonic() - begun:.0f} s", flush=True)
                total = 0.0


def read_scores(model: Any, rows: Sequence[dict[str, Any]]) -> dict[str, list[float | None]]:
    """Returns the scores of the candidates of each question, by its set and text; ``None`` for those not read."""
    import torch

    model.eval()
    found: dict[str, list[float | None]] = {}
    for row in rows:
        example = example_of(row)
        with torch.no_grad():
            scores = question_scores(model, [example], [range(len(example["places"]))])[0].tolist()
        own: list[float | None] = [None] * len(row["right"])
        for place, score in zip([place for places in row["places"] for place in places], scores, strict=True):
            own[place] = round(score, 3)
        found[f"{row['set']}|{row['question']}"] = own
    return found


def first_right(rows: Sequence[dict[str, Any]], scores: Mapping[str, Sequence[float | None]]) -> str:
    """Returns how many questions have a right value with the best score, and how many of the others none above 0."""
    best = {}
    for row in rows:
        own = [(score, place) for place, score in enumerate(scores[f"{row['set']}|{row['question']}"]) if score is not None]  # fmt: skip
        best[id(row)] = max(own)
    answerable = [row for row in rows if row["answerable"]]
    hits = sum(row["right"][best[id(row)][1]] for row in answerable)
    empty = [row for row in rows if not row["answerable"]]
    none = sum(best[id(row)][0] < 0 for row in empty)
    return f"{hits} of {len(answerable)} first, {none} of {len(empty)} without an answer below 0"


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


def fit(rows: Sequence[dict[str, Any]], folder: Path, write: bool) -> None:
    """Fits a reader on made-up events, then on the sets: with each fold left out, and on all; each step is kept."""
    import torch
    from made_readings import made

    def fitted(name: str, begin: Path | None, given: Sequence[dict[str, Any]], epochs: int, rate: float) -> Any:
        torch.manual_seed(0)
        torch.set_num_threads(1)
        content = installed_weights()
        assert content is not None
        model, path = bert(content), folder / f"{name}.pt"
        if path.exists():
            model.load_state_dict(torch.load(path))
            return model
        if begin is not None:
            model.load_state_dict(torch.load(begin))
        train(model, given, epochs, rate=rate)
        torch.save(model.state_dict(), path)
        return model

    begun = folder / "made.pt"
    made_only = fitted("made", None, made(MADE, seed=0, most=5), 1, RATE)
    some = rows[::8]
    print(f"made-up events alone, some questions: {first_right(some, read_scores(made_only, some))}", flush=True)
    scores: dict[str, list[float | None]] = {}
    for number, fold in enumerate(FOLDS):
        others = [row for row in rows if row["set"] not in fold]
        own = [row for row in rows if row["set"] in fold]
        found = read_scores(fitted(f"fold{number}", begun, others, EPOCHS, RATE / 2), own)
        print(f"{', '.join(fold)}: {first_right(own, found)}", flush=True)
        scores |= found
        (folder / "scores.json").write_text(json.dumps(scores), encoding="utf-8")
    last = fitted("all", begun, rows, EPOCHS, RATE / 2)
    if write:
        np.savez_compressed(FILE, **stored(last))


def main() -> None:
    """Collects the readings of the sets, or fits the reader on them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collect", type=Path, metavar="FILE", help="write the readings of the sets")
    parser.add_argument("--fit", type=Path, metavar="FILE", help="fit on readings; models and scores go to its folder")
    parser.add_argument("--write", action="store_true", help="write the reader that ships")
    arguments = parser.parse_args()
    if arguments.collect:
        arguments.collect.write_text(json.dumps(collected()), encoding="utf-8")
    if arguments.fit:
        fit(json.loads(arguments.fit.read_text(encoding="utf-8")), arguments.fit.parent, arguments.write)


if __name__ == "__main__":
    main()
