"""Training of the encoder on turns with gold programs.

>>> model = train_encoder(Path("all-MiniLM-L6-v2"), data, EncoderConfig(epochs=2), checkpoint=Path("training.pt"))

One pass of the encoder over some pages and their turns gives the scores of templates and operands, and the loss::

    >>> EncoderPass(model, data.pages, [("page", examples)]).loss()[1]
    {'forms': 3.41, 'first': 1.65, 'second': 1.84}

Random draws depend on the seed and the number of the step alone. A training that was killed therefore continues from
its checkpoint with the same result as one that was not.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name
from torch import Tensor

from kg.encoders import TokenSequence
from kg.encoders.encoder import JOINED
from kg.errors import DataError
from optimize.encoders.examples import MASK, NO_PAGE, EncoderConfig, EncoderData, EncoderExample, base_vocabulary
from optimize.encoders.model import Encoder, Reader
from optimize.optimizers import Progress, silent

_BETAS = (0.9, 0.98)
_WARM_UP, _LEAST_RATE = 0.06, 0.02
_LONGEST_GRADIENT = 1.0
_REPORTED_STEPS = 20

Unit = tuple[str, Sequence[EncoderExample]]
"""A page with some of its turns."""

Pages = Mapping[str, Sequence[TokenSequence]]

TURNS = 14
"""Turns of a unit, about."""

MOST_SEQUENCES = 14
"""Lines and sentences of a page in one step of training, in addition to those that its turns use."""

_SLOTS = (0, 1, 2)
_NAMES = ("first", "second")


def train_encoder(
    base: Path,
    data: EncoderData,
    config: EncoderConfig,
    seed: int = 0,
    *,
    checkpoint: Path | None = None,
    progress: Progress = silent,
) -> Reader:
    """Returns the base model fitted to the examples.

    Args:
        base: The folder of a sentence encoder, see :meth:`Encoder.pretrained`.
        data: Turns to learn from.
        config: Settings.
        seed: Of the heads' first weights, the order and the dropout.
        checkpoint: The file to continue from, if it is there; it is written after each epoch.
        progress: Receives lines with the losses.

    Raises:
        DataError: The base model or the checkpoint cannot be read, the checkpoint is of another training, or no
            template occurs often enough.
    """
    mask = base_vocabulary(base).index(MASK)
    before = torch.get_num_threads()
    torch.set_num_threads(config.threads)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = Reader(Encoder.pretrained(base), templates_of(data.examples, config.form_count))
            model.encoder.frozen = config.frozen
            _Training(model, data, config, seed, mask, checkpoint, progress).run()
    finally:
        torch.set_num_threads(before)
    model.eval()
    return model


def templates_of(examples: Sequence[EncoderExample], least: int) -> list[str]:
    """Returns the templates of at least ``least`` examples.

    Raises:
        DataError: There are none.
    """
    counts = Counter(one.template for one in examples if one.template)
    found = sorted(template for template, count in counts.items() if count >= least)
    if not found:
        raise DataError(f"no template occurs in at least {least} training turns: the encoder cannot be fitted")
    return found


def by_page(examples: Sequence[EncoderExample]) -> dict[str, list[EncoderExample]]:
    """Returns the examples that have a template, by their page."""
    found: dict[str, list[EncoderExample]] = defaultdict(list)
    for one in examples:
        if one.template:
            found[one.page].append(one)
    return dict(found)


def batches(
    examples: Mapping[str, Sequence[EncoderExample]], pages: Pages, rng: np.random.Generator, tokens: int
) -> list[list[Unit]]:
    """Returns all examples in random order as batches of about ``tokens`` tokens; a page may be in several batches."""
    units: list[Unit] = []
    for page, own in examples.items():
        order = rng.permutation(len(own))
        parts = np.array_split(order, max(1, round(len(order) / TURNS)))
        units += [(page, [own[place] for place in part]) for part in parts]
    sizes = {page: sum(len(one.tokens) for one in sequences) for page, sequences in pages.items()}
    found: list[list[Unit]] = [[]]
    filled = 0
    for place in rng.permutation(len(units)):
        unit = units[place]
        size = sizes.get(unit[0], 0) + sum(len(one.sequence.tokens) for one in unit[1])
        if filled + size > tokens and found[-1]:
            found.append([])
            filled = 0
        found[-1].append(unit)
        filled += size
    return found


def thinned(
    pages: Pages, units: Sequence[Unit], rng: np.random.Generator, word_dropout: float, mask: int
) -> tuple[dict[str, list[TokenSequence]], list[Unit]]:
    """Returns some of each page's lines and sentences, with all that the turns use, and masks words of questions."""
    needed: dict[str, set[int]] = defaultdict(set)
    for page, examples in units:
        needed[page].update(*(one.figures() for one in examples))
    kept: dict[str, list[TokenSequence]] = {}
    for page, figures in needed.items():
        if page != NO_PAGE:
            drawn = set(rng.permutation(len(pages[page]))[:MOST_SEQUENCES].tolist())
            kept[page] = [
                one for place, one in enumerate(pages[page]) if place in drawn or figures & set(one.figures.values())
            ]
    masked: list[Unit] = [
        (page, [replace(one, sequence=_masked(one.sequence, rng, word_dropout, mask)) for one in examples])
        for page, examples in units
    ]
    return kept, masked


def _masked(sequence: TokenSequence, rng: np.random.Generator, word_dropout: float, mask: int) -> TokenSequence:
    gone = rng.random(len(sequence.tokens)) < word_dropout
    gone &= np.array(sequence.specials) == 0
    gone[: len(_SLOTS)] = False
    return replace(sequence, tokens=np.where(gone, mask, sequence.tokens).tolist())


@dataclass(frozen=True)
class PointedOperand:
    """The scores of figures or earlier answers that may be an operand of a turn, and the places of the right ones."""

    row: int
    kind: str
    scores: Tensor
    right: list[int]


class EncoderPass:
    """One pass of the model over pages with turns; with ``half`` the transformer calculates in bfloat16."""

    def __init__(self, model: Reader, pages: Pages, units: Sequence[Unit], *, half: bool = True) -> None:
        self.model = model
        self.examples = [one for _, examples in units for one in examples]
        names = list(dict.fromkeys(page for page, _ in units if page != NO_PAGE))
        sequences = [one for name in names for one in pages[name]]
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
            states = model.encoder.states([*sequences, *(one.sequence for one in self.examples)])
        read = iter(states[: len(sequences)])
        self._known: dict[str, list[int]] = {NO_PAGE: []}
        self._tables: dict[str, Tensor] = {NO_PAGE: torch.zeros(1, JOINED)}
        self._words: dict[str, tuple[Tensor, Tensor]] = {}
        for name in names:
            self._add_page(name, pages[name], [next(read) for _ in pages[name]])
        self._figures = [self._tables[one.page] for one in self.examples]
        self._numbers = [list(one.places) for one in self.examples]
        asked = states[len(sequences) :]
        slots = [state[[*_SLOTS, *one.places.values()]] for one, state in zip(self.examples, asked, strict=True)]
        pasts = [one.past for one in self.examples]
        self._slots, self._turns = model.joined(slots, pasts, self._numbers, self._figures)
        self.templates: Tensor = model.template_logits(self._slots)
        self._add_words(asked)

    def _add_page(self, name: str, sequences: Sequence[TokenSequence], states: Sequence[Tensor]) -> None:
        observations = [one.figures[mark] for one in sequences for mark in sorted(one.figures)]
        table = torch.zeros(max(observations, default=0) + 1, JOINED)
        if observations:
            marks = [state[sorted(one.figures)] for one, state in zip(sequences, states, strict=True)]
            table = table.index_put((torch.tensor(observations),), self.model.figure(torch.cat(marks)))
            self._words[name] = self.model.unit_vectors(torch.cat(list(states))), near_places(sequences)
        self._tables[name] = table
        self._known[name] = observations

    def _add_words(self, asked: Sequence[Tensor]) -> None:
        """The vectors of the questions' words, and their similarities to the words of each figure."""
        lengths = [len(state) for state in asked]
        together = torch.cat(list(asked))
        self._heard = self.model.heard(together).split(lengths)
        spoken = self.model.unit_vectors(together).split(lengths)
        self._similarities: list[Tensor | None] = [
            nearest(own, *self._words[one.page]) if one.page in self._words else None
            for own, one in zip(spoken, self.examples, strict=True)
        ]

    def operands(self, position: int) -> Iterator[PointedOperand]:
        """Yields the scores of the turns' operands, given the gold template and first operand."""
        rows = [row for row, one in enumerate(self.examples) if self._has_operand(one, position)]
        if not rows:
            return
        templates = torch.tensor([self.model.number[self.examples[row].template] for row in rows])
        first = torch.stack([self._first(row) for row in rows]) if position else None
        queries, listened = self.model.queries(self._slots[rows], templates, position, first)
        for query, listening, row in zip(queries, listened, rows, strict=True):
            one = self.examples[row]
            if one.kinds[position] == "A":
                numbers, similarities = self._known[one.page], self._similarities[row]
                if similarities is None:
                    continue
                words = self.model.word_weights(self._heard[row], listening)
                scores = self._figures[row][numbers] @ query + words @ similarities
            else:
                numbers = self._numbers[row]
                scores = self._turns[row, : len(numbers)] @ query
            gold = set(one.right[position])
            right = [place for place, number in enumerate(numbers) if number in gold]
            if right:
                yield PointedOperand(row, one.kinds[position], scores, right)

    def _has_operand(self, one: EncoderExample, position: int) -> bool:
        return one.template in self.model.number and position < len(one.kinds) and bool(one.right[position])

    def _first(self, row: int) -> Tensor:
        """The vector of the first operand that the second one's query sees."""
        one = self.examples[row]
        if one.kinds[0] == "A" and 0 <= one.first < len(self._figures[row]):
            return self._figures[row][one.first]
        if one.kinds[0] == "R" and one.first in self._numbers[row]:
            return self._turns[row, self._numbers[row].index(one.first)]
        return torch.zeros(JOINED)

    def loss(self) -> tuple[Tensor, dict[str, float]]:
        """Returns the weighted loss of a turn, and the mean losses of templates and operands."""
        model = self.model
        known = [(row, one) for row, one in enumerate(self.examples) if one.template in model.number]
        weights = torch.tensor([one.weight for _, one in known])
        target = torch.tensor([model.number[one.template] for _, one in known], dtype=torch.long)
        forms = F.cross_entropy(self.templates[[row for row, _ in known]], target, reduction="none")
        total = (forms * weights).sum()
        parts = {"forms": float(forms.detach().mean())} if known else {}
        for position, name in enumerate(_NAMES):
            losses = [
                (torch.logsumexp(one.scores, 0) - torch.logsumexp(one.scores[one.right], 0))
                * self.examples[one.row].weight
                for one in self.operands(position)
            ]
            if losses:
                stacked = torch.stack(losses)
                total = total + stacked.sum()
                parts[name] = float(stacked.detach().mean())
        return total / max(float(weights.sum()), 1.0), parts


def near_places(sequences: Sequence[TokenSequence]) -> Tensor:
    """Returns the tokens that speak of each figure, numbered through all sequences; shape ``(figures, most)``."""
    found: list[list[int]] = []
    begin = 0
    for one in sequences:
        found += [[begin + place for place in places] for places in one.near()]
        begin += len(one.tokens)
    most = max(map(len, found))
    return torch.tensor([[*places, *[places[-1]] * (most - len(places))] for places in found])


def nearest(own: Tensor, tokens: Tensor, near: Tensor) -> Tensor:
    """Returns how near each of a question's words comes to a word of each figure; shape ``(words, figures)``."""
    alike = own @ tokens.T
    return alike[:, near.reshape(-1)].view(len(own), *near.shape).amax(-1)


class _Training:
    """A training under way: the model, the optimizer and the position."""

    def __init__(
        self,
        model: Reader,
        data: EncoderData,
        config: EncoderConfig,
        seed: int,
        mask: int,
        checkpoint: Path | None,
        progress: Progress,
    ) -> None:
        self.model, self.data, self.config, self.seed, self.mask = model, data, config, seed, mask
        self.checkpoint, self.progress = checkpoint, progress
        self.examples = by_page(data.examples)
        self.optimizer = torch.optim.AdamW(self._parameters(), betas=_BETAS)
        sizes = [len(self._batches(epoch)) for epoch in range(config.epochs)]
        self.total = sum(sizes)
        self.epoch = self.step = 0
        self.losses: dict[str, list[float]] = defaultdict(list)
        turns = sum(map(len, self.examples.values()))
        progress(
            f"encoder: {turns} turns, {len(data.pages)} pages, {len(model.templates)} templates, {self.total} steps"
        )

    def run(self) -> None:
        """Goes through what is left of all epochs."""
        self._resume()
        self.model.train()
        while self.epoch < self.config.epochs:
            for place, units in enumerate(self._batches(self.epoch)):
                self._step(place, units)
            self.epoch += 1
            self._save()

    def _batches(self, epoch: int) -> list[list[Unit]]:
        rng = np.random.default_rng((self.seed, epoch))
        return batches(self.examples, self.data.pages, rng, self.config.tokens)

    def _parameters(self) -> list[dict[str, Any]]:
        """Groups of weights: the transformer's and the heads', of which vectors do not decay."""
        config = self.config
        groups: dict[tuple[bool, bool], list[torch.Tensor]] = defaultdict(list)
        for name, value in self.model.named_parameters():
            if value.requires_grad:
                groups[name.startswith("encoder.") and "special" not in name, value.ndim > 1].append(value)
        return [
            {"params": values, "base": rate, "lr": rate, "weight_decay": config.decay if matrix else 0.0}
            for (inner, matrix), values in groups.items()
            for rate in [config.rate if inner else config.head_rate]
        ]

    def _step(self, place: int, units: list[Unit]) -> None:
        share = min((self.step + 1) / (_WARM_UP * self.total), 1.0) * max(1 - self.step / self.total, _LEAST_RATE)
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * share
        rng = np.random.default_rng((self.seed, self.epoch, place))
        torch.manual_seed(int(rng.integers(2**62)))
        pages, own = thinned(self.data.pages, units, rng, self.config.word_dropout, self.mask)
        loss, parts = EncoderPass(self.model, pages, own, half=self.config.half).loss()
        if loss.requires_grad:  # a batch of rare templates has nothing to learn from
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), _LONGEST_GRADIENT)
            self.optimizer.step()
        self.step += 1
        for name, value in parts.items():
            self.losses[name].append(value)
        if self.step % _REPORTED_STEPS == 0:
            means = " ".join(f"{name} {np.mean(values):.3f}" for name, values in self.losses.items())
            self.progress(f"encoder: step {self.step} of {self.total}, loss {means}")
            self.losses.clear()

    def _key(self) -> str:
        """A hash of what shapes the training; the number of threads does not."""
        config = replace(self.config, threads=1)
        turns = [(page, len(own)) for page, own in self.examples.items()]
        shaping = repr((config, self.seed, self.model.templates, turns, self.total))
        return hashlib.sha256(shaping.encode()).hexdigest()

    def _save(self) -> None:
        """Writes the checkpoint, whole or not at all."""
        if self.checkpoint is None:
            return
        self.checkpoint.parent.mkdir(parents=True, exist_ok=True)
        new = self.checkpoint.with_name(f".{self.checkpoint.name}.new")
        position = {"key": self._key(), "epoch": self.epoch, "step": self.step}
        weights = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save(position | weights, new)
        new.replace(self.checkpoint)

    def _resume(self) -> None:
        if self.checkpoint is None or not self.checkpoint.exists():
            return
        try:
            kept = torch.load(self.checkpoint, weights_only=True)
            if kept["key"] != self._key():
                raise DataError("the checkpoint is of another training: remove it", file=str(self.checkpoint))
            self.model.load_state_dict(kept["model"])
            self.optimizer.load_state_dict(kept["optimizer"])
            self.epoch, self.step = kept["epoch"], kept["step"]
        except (OSError, EOFError, LookupError, ValueError, RuntimeError, pickle.UnpicklingError) as error:
            message = f"the checkpoint cannot be read: {error}"
            raise DataError(message, file=str(self.checkpoint)) from error
        self.progress(f"encoder: continued at step {self.step} of {self.total}")
