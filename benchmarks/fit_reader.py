"""Fits the reader of questions and documents on passages with questions that people wrote.

$ python benchmarks/fit_reader.py --seconds 270
1189 steps, 270 s; kept out: first 86.3%, spans 88.6%, yes or no 77.3%; 64.8% right at 5% wrong

It needs torch of the extra ``train``, the weights of the extra ``news`` and a GPU: a processor takes days. All layers
of the transformer get a change of low rank. A question is read with its passage and with others of the same file. All
spans, yes, no and "no answer" share one softmax. No question of the news sets is used, so ``benchmarks/fit_clauses.py``
can rank all of them by this reader.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from passage_readings import passage_files, read_file
from torch import nn
from torch.nn import functional

from kg.arrays import FloatArray, IntArray
from kg.comprehension.reader import FILE, MOST_PIECES, QUESTION_PIECES, SPAN_PIECES, Piece, day_line, pieces_of
from kg.encoders import (
    FIRST_POSITION,
    HEADS,
    LAYERS,
    WIDTH,
    installed_weights,
    padded,
    relative_buckets,
    word_pieces,
)

RANK, ENDS, WHOLE = 32, 192, 256
"""The rank of the changes, and the widths of the heads of spans and of verdicts."""

RATE, DECAY, WARM, LAST = 8e-4, 0.01, 0.06, 0.02
"""The largest learning rate, its decay of weights, the share of steps up to it, and the share of it at the end."""

QUESTIONS, EPOCHS, OTHERS = 32, 3.5, 3
"""Questions of a step, how often each is seen, and the other passages that are read with it."""

HARDEST, HARD_SHARE, HIDDEN_SHARE = 6, 0.2, 0.08
"""The passages most like the question of which others are taken, how often they are the first ones, and how often the
question's own passage is left out."""

NONE_WEIGHT = 0.1
"""The weight of the loss of wrong spans above "no answer" where there is one."""

SMALL = "the a an of in on at by from for to about around nearly almost roughly only over its his her their $ € £ some"
"""Words by which a span may differ from an answer without being wrong."""

READ = 3
"""Passages that a kept-out question is read with."""

WRONG, RIGHT, UNCOUNTED, OUTSIDE = 0, 1, -2, -1
"""How a span counts: from 1 on it is right, for the answer of that number."""

_NEVER = -1e9


@dataclass(frozen=True)
class Question:
    """A question.

    Attributes:
        pieces: The numbers of its pieces.
        own: The number of its passage.
        others: The other passages of the file, the most like it first.
        verdict: ``yes``, ``no`` or nothing.
        answers: The first and last pieces of all places of each answer.
    """

    pieces: list[int]
    own: int
    others: list[int]
    verdict: str
    answers: list[list[tuple[int, int]]]


@dataclass(frozen=True)
class Passages:
    """The passages of some files as they are read, and their questions.

    Attributes:
        pieces: The numbers of the pieces of each passage.
        questions: The questions.
        nearest: For each question the passages of its file, the most like it first.
    """

    pieces: list[list[int]]
    questions: list[Question]
    nearest: list[list[int]]


def read_passages(paths: Sequence[Path]) -> Passages:
    """Returns the passages and the questions of some files."""
    wordpiece = word_pieces()
    found = Passages([], [], [])
    for path in paths:
        sentences, asked = read_file(path)
        lines: dict[str, list[str]] = {}
        for sentence in sentences:
            lines.setdefault(sentence.document, [day_line(sentence.published)]).append(sentence.text)
        pieces = {
            name: [piece for place, text in enumerate(texts) for piece in pieces_of(wordpiece, text, place)]
            for name, texts in lines.items()
        }
        numbers = {name: len(found.pieces) + place for place, name in enumerate(pieces)}
        found.pieces.extend([one.number for one in own] for own in pieces.values())
        spread = Counter(piece for number in numbers.values() for piece in set(found.pieces[number]))
        for one in asked:
            verdict = one.answers[0] if one.answers in (("yes",), ("no",)) else ""
            spans = [] if verdict else [_places(pieces[one.passage], lines[one.passage], each) for each in one.answers]
            if not all(spans):
                continue
            words = wordpiece(one.text)
            likeness = {each: _likeness(words, found.pieces[each], spread, len(numbers)) for each in numbers.values()}
            order = sorted(likeness, key=lambda number: -likeness[number])
            own = numbers[one.passage]
            others = [number for number in order if number != own]
            found.questions.append(Question(words[:QUESTION_PIECES], own, others, verdict, spans))
            found.nearest.append(order)
    return found


def _places(pieces: Sequence[Piece], lines: Sequence[str], answer: str) -> list[tuple[int, int]]:
    """Returns the first and last piece of each place of an answer."""
    found = []
    for line, text in enumerate(lines):
        for start in (place for place in range(len(text)) if text.startswith(answer, place)):
            end = start + len(answer)
            inside = [
                place for place, one in enumerate(pieces) if one.line == line and one.start < end and one.end > start
            ]
            found.append((inside[0], inside[-1]))
    return found


def _likeness(question: Sequence[int], passage: Sequence[int], spread: Counter[int], count: int) -> float:
    inside = Counter(passage)
    return sum(
        math.log(1 + count / spread[piece]) * inside[piece] / (inside[piece] + 1.2)
        for piece in set(question)
        if inside[piece]
    )


class Linear(nn.Module):
    """A matrix of the transformer with a change of low rank."""

    def __init__(self, matrix: FloatArray, bias: FloatArray) -> None:
        super().__init__()
        self.register_buffer("matrix", torch.tensor(np.ascontiguousarray(matrix.T)).bfloat16(), persistent=False)
        self.register_buffer("bias", torch.tensor(bias).bfloat16(), persistent=False)
        self.down = nn.Parameter(torch.randn(matrix.shape[0], RANK) / matrix.shape[0] ** 0.5)
        self.up = nn.Parameter(torch.zeros(RANK, matrix.shape[1]))

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        """Returns the product."""
        change = (given @ self.down.bfloat16()) @ self.up.bfloat16()
        return functional.linear(given, self.matrix, self.bias) + change


class Reader(nn.Module):
    """The transformer with its changes and the heads of spans and verdicts."""

    def __init__(self) -> None:
        super().__init__()
        weights = installed_weights()
        if weights is None:
            raise SystemExit("the weights of the extra 'news' are not installed")
        for name in ("words", "positions", "relative"):
            self.register_buffer(name, torch.tensor(getattr(weights, name)), persistent=False)
        for number, norm in enumerate(weights.norms):
            self.register_buffer(f"weight_{number}", torch.tensor(norm.weight).bfloat16(), persistent=False)
            self.register_buffer(f"bias_{number}", torch.tensor(norm.bias).bfloat16(), persistent=False)
        self.linears = nn.ModuleList(Linear(*linear) for linear in weights.linears)
        self.begin, self.end = nn.Linear(WIDTH, ENDS), nn.Linear(WIDTH, ENDS)
        self.begins, self.ends = nn.Linear(WIDTH, 1, bias=False), nn.Linear(WIDTH, 1)
        self.whole, self.verdicts = nn.Linear(WIDTH, WHOLE), nn.Linear(WHOLE, 3)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the scores of spans, shape ``(sequences, pieces, SPAN_PIECES)``, and those of yes and no."""
        length = tokens.shape[1]
        states = self._normal((self.words[tokens] + self.positions[FIRST_POSITION:][:length]).bfloat16(), 0)
        buckets = torch.tensor(relative_buckets(length), device=tokens.device)
        bias = self.relative[buckets].permute(2, 0, 1)[None] + torch.where(mask[:, None, None] > 0, 0.0, -1e4)
        bias = bias.bfloat16().contiguous()
        for layer in range(LAYERS):
            query, key, value, mix, wide, narrow = self.linears[6 * layer : 6 * layer + 6]
            split = [one(states).view(*states.shape[:2], HEADS, -1).transpose(1, 2) for one in (query, key, value)]
            found = functional.scaled_dot_product_attention(*split, attn_mask=bias)
            found = mix(found.transpose(1, 2).reshape(states.shape))
            states = self._normal(states + self._dropped(found), 2 * layer + 1)
            found = narrow(functional.gelu(wide(states)))
            states = self._normal(states + self._dropped(found), 2 * layer + 2)
        return self._scores(functional.dropout(states.float(), 0.1, self.training))

    def _normal(self, states: torch.Tensor, number: int) -> torch.Tensor:
        weight, bias = getattr(self, f"weight_{number}"), getattr(self, f"bias_{number}")
        return functional.layer_norm(states, (WIDTH,), weight, bias, 1e-5)

    def _dropped(self, states: torch.Tensor) -> torch.Tensor:
        return functional.dropout(states, 0.05, self.training)

    def _scores(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = functional.dropout(functional.relu(self.whole(states[:, 0])), 0.1, self.training)
        verdicts = self.verdicts(hidden)
        last = torch.cat([self.end(states), self.ends(states)], -1)
        last = functional.pad(last, (0, 0, 0, SPAN_PIECES - 1)).unfold(1, SPAN_PIECES, 1)
        spans = torch.einsum("snd,sndf->snf", self.begin(states), last[:, :, :ENDS]) / ENDS**0.5
        return spans + last[:, :, ENDS] + self.begins(states) + verdicts[:, 0, None, None], verdicts[:, 1:]

    def stored(self) -> dict[str, Any]:
        """Returns the fitted arrays as :class:`kg.comprehension.SpanReader` reads them."""
        found: dict[str, torch.Tensor] = {}
        for number, linear in enumerate(self.linears):
            found |= {f"down_{number}": linear.down, f"up_{number}": linear.up}
        for name in ("begin", "end", "whole", "verdicts"):
            layer = getattr(self, name)
            found |= {name: layer.weight.t(), f"{name}_bias": layer.bias}
        found |= {"begins": self.begins.weight[0], "ends": self.ends.weight[0], "ends_bias": self.ends.bias}
        return {name: one.detach().cpu().numpy().astype(np.float16) for name, one in found.items()}


class Batch:
    """Questions with the passages that each is read with.

    Args:
        rows: The questions and the numbers of their passages.
        passages: The pieces of all passages.
    """

    def __init__(self, rows: Sequence[tuple[Question, Sequence[int]]], passages: Sequence[list[int]]) -> None:
        wordpiece = word_pieces()
        self.rows, self.passages = rows, passages
        self.small = {piece for word in SMALL.split() for piece in wordpiece(word)}
        sequences: list[list[int]] = []
        self.places: list[list[tuple[int, int, int]]] = []
        for question, chosen in rows:
            head = [wordpiece.cls, *question.pieces, wordpiece.sep, wordpiece.sep]
            self.places.append([])
            for number in chosen:
                inside = passages[number][: MOST_PIECES - len(head)]
                self.places[-1].append((len(sequences), len(head), len(inside)))
                sequences.append([*head, *inside, wordpiece.sep])
        self.tokens, self.mask = padded(sequences, wordpiece.numbers["<pad>"])

    def labels(self) -> tuple[IntArray, IntArray]:
        """Returns how each span counts, and how yes and no do."""
        spans = np.full((*self.tokens.shape, SPAN_PIECES), OUTSIDE, dtype=np.int64)
        verdicts = np.zeros((len(self.tokens), 2), dtype=np.int64)
        for (question, chosen), places in zip(self.rows, self.places, strict=True):
            for number, (row, head, length) in zip(chosen, places, strict=True):
                own = spans[row, head : head + length]
                for further in range(SPAN_PIECES):
                    own[: max(length - further, 0), further] = WRONG
                is_own = number == question.own
                if question.verdict:
                    verdicts[row, int(question.verdict == "no")] = RIGHT if is_own else UNCOUNTED
                if is_own:
                    self._label_answers(own, question)
                else:
                    self._label_repeated(own, question, number)
        return spans, verdicts

    def _label_answers(self, own: IntArray, question: Question) -> None:
        """Spans that differ from an answer by small words alone do not count."""
        pieces = self.passages[question.own]
        for number, places in enumerate(question.answers, RIGHT):
            for first, last in places:
                for other in range(max(first - 2, 0), min(first + 2, last) + 1):
                    between = pieces[min(first, other) : max(first, other)]
                    if last < len(own) and last - other < SPAN_PIECES and own[other, last - other] == WRONG:
                        own[other, last - other] = UNCOUNTED if all(one in self.small for one in between) else WRONG
                if last < len(own) and last - first < SPAN_PIECES:
                    own[first, last - first] = number

    def _label_repeated(self, own: IntArray, question: Question, number: int) -> None:
        """The words of an answer in another passage do not count."""
        pieces, mine = self.passages[number][: len(own)], self.passages[question.own]
        for first, last in {place for places in question.answers for place in places}:
            answer = mine[first : last + 1]
            for place in range(len(pieces) - len(answer) + 1):
                if len(answer) <= SPAN_PIECES and pieces[place : place + len(answer)] == answer:
                    own[place, len(answer) - 1] = UNCOUNTED


def loss_of(model: Reader, batch: Batch, device: torch.device) -> torch.Tensor:
    """Returns the mean loss: for each answer of choosing it among what is wrong and "no answer"."""
    spans, polar = model(*(torch.tensor(one, device=device) for one in (batch.tokens, batch.mask)))
    labels, verdicts = (torch.tensor(one, device=device) for one in batch.labels())
    wrong = torch.logaddexp(
        torch.logsumexp(spans.masked_fill(labels != WRONG, _NEVER).flatten(1), 1),
        torch.logsumexp(polar.masked_fill(verdicts != WRONG, _NEVER), 1),
    )
    most = max(len(question.answers) for question, _ in batch.rows)
    right = [
        torch.logsumexp(spans.masked_fill(labels != number, _NEVER).flatten(1), 1)
        for number in range(RIGHT, RIGHT + most)
    ]
    said = torch.logsumexp(polar.masked_fill(verdicts != RIGHT, _NEVER), 1)
    losses = []
    for (question, _), places in zip(batch.rows, batch.places, strict=True):
        rows = torch.tensor([row for row, _, _ in places], device=device)
        others = torch.logsumexp(torch.cat([torch.zeros(1, device=device), wrong[rows]]), 0)
        answers = [said] if question.verdict else right[: len(question.answers)]
        if not answers:
            losses.append(others)
            continue
        found = torch.stack([torch.logsumexp(one[rows], 0) for one in answers])
        # an answer that is too long to be a span has no loss
        chosen = (torch.logaddexp(found, others) - found).clamp(max=50)
        losses.append(chosen.mean() + NONE_WEIGHT * others)
    return torch.stack(losses).mean()


def row_of(question: Question, generator: random.Random) -> tuple[Question, list[int]]:
    """Returns a question with passages to be read: its own and others, or others alone, which have no answer."""
    if (question.answers or question.verdict) and generator.random() < HIDDEN_SHARE:
        return replace(question, verdict="", answers=[]), question.others[2 : OTHERS + 3]
    hardest = question.others[:HARDEST]
    first = generator.random() < HARD_SHARE or len(hardest) <= OTHERS
    return question, [question.own, *(hardest[:OTHERS] if first else generator.sample(hardest, OTHERS))]


def train(model: Reader, paths: Sequence[Path], seconds: float, seed: int, device: torch.device) -> None:
    """Fits the reader within a time; the learning rate falls with the steps or the time, whichever is further."""
    passages = read_passages(paths)
    questions = passages.questions
    generator = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)
    steps = int(EPOCHS * len(questions) / QUESTIONS)
    order: list[Question] = []
    while len(order) < steps * QUESTIONS:
        order += generator.sample(questions, len(questions))
    begun, total = time.monotonic(), 0.0
    model.train()
    for step in range(steps):
        spent = max(step / steps, (time.monotonic() - begun) / seconds)
        if spent >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / (WARM * steps)) * max(LAST, 1 - spent)
        rows = [row_of(one, generator) for one in order[step * QUESTIONS : (step + 1) * QUESTIONS]]
        loss = loss_of(model, Batch(rows, passages.pieces), device)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
        if (step + 1) % 50 == 0:
            print(f"{step + 1}/{steps} steps, loss {total / 50:.3f}, {time.monotonic() - begun:.0f} s", flush=True)
            total = 0.0


def measured(model: Reader, paths: Sequence[Path], device: torch.device) -> dict[str, float]:
    """Returns the shares of kept-out questions that are answered right first, each read with the nearest passages."""
    passages = read_passages(paths)
    model.eval()
    found: list[tuple[float, bool, str]] = []
    for begin in range(0, len(passages.questions), QUESTIONS):
        part = passages.questions[begin : begin + QUESTIONS]
        rows_ = [(one, order[:READ]) for one, order in zip(part, passages.nearest[begin:], strict=False)]
        batch = Batch(rows_, passages.pieces)
        with torch.no_grad():
            spans, polar = model(*(torch.tensor(one, device=device) for one in (batch.tokens, batch.mask)))
        labels, verdicts = batch.labels()
        scores = np.where(labels == OUTSIDE, _NEVER, spans.cpu().numpy())
        for question, places in zip(part, batch.places, strict=True):
            rows = [row for row, _, _ in places]
            own, said = scores[rows], polar.cpu().numpy()[rows]
            whole = np.logaddexp.reduce(np.concatenate([[0.0], own.ravel(), said.ravel()]))
            best_span, best_said = float(own.max()), float(said.max())
            if best_said > best_span:
                right = bool(verdicts[rows].ravel()[int(said.argmax())] >= RIGHT)
            else:
                right = bool(labels[rows].ravel()[int(own.argmax())] not in (WRONG, OUTSIDE)) and bool(question.answers)
            kind = "polar" if question.verdict else "span" if question.answers else "none"
            found.append((math.exp(max(best_span, best_said) - whole), right, kind))
    sure = sorted(found, key=lambda one: -one[0])
    wrong = np.cumsum([not right for _, right, _ in sure])
    kept = int((wrong <= 0.05 * len(sure)).sum())
    answered, rest = sure[:kept], sure[kept:]

    def share(*kinds: str) -> float:
        return float(np.mean([right for _, right, kind in found if kind in kinds]))

    at_five = (sum(right for _, right, _ in answered) + sum(kind == "none" for _, _, kind in rest)) / len(found)
    return {"first": share("span", "polar"), "spans": share("span"), "polar": share("polar"), "at 5% wrong": at_five}


def main() -> None:
    """Fits the reader, prints its figures on the kept-out passages, and writes it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300.0, help="time for the training")
    parser.add_argument("--seed", type=int, default=0, help="of the questions and the weights")
    parser.add_argument("--out", type=Path, default=FILE, metavar="FILE", help="where the reader is written")
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Reader().to(device)
    train(model, passage_files(kept=False), arguments.seconds, arguments.seed, device)
    np.savez_compressed(arguments.out, **model.stored())
    figures = measured(model, passage_files(kept=True), device)
    print("; ".join(f"{name} {value:.1%}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
