"""One pass of the encoder over some pages and their turns: scores of templates and operands, loss and accuracy.

>>> reading = EncoderPass(model, data.pages, [("page", examples)])
>>> loss, parts = reading.loss()
>>> parts
{'forms': 3.41, 'first': 1.65, 'second': 1.84}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name
from torch import Tensor

from kg.encoders import TokenSequence
from kg.encoders.heads import JOINED
from optimize.encoders.examples import NO_PAGE, EncoderData, EncoderExample
from optimize.encoders.model import Reader

Unit = tuple[str, Sequence[EncoderExample]]
"""A page with some of its turns."""

Pages = Mapping[str, Sequence[TokenSequence]]

TURNS = 14
"""Turns of a unit, about."""

MOST_SEQUENCES = 14
"""Lines and sentences of a page in one step of training, in addition to those that its turns use."""

_PAGES_AT_ONCE = 12
_SLOTS = (0, 1, 2)
_NAMES = ("first", "second")


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


def held_out_loss(model: Reader, data: EncoderData) -> float:
    """Returns the mean loss of turns that have a template; 0 without any."""
    units = list(by_page(data.examples).items())
    was_training = model.training
    model.eval()
    with torch.no_grad():
        parts = [units[start : start + _PAGES_AT_ONCE] for start in range(0, len(units), _PAGES_AT_ONCE)]
        losses = [float(EncoderPass(model, data.pages, part).loss()[0]) for part in parts]
    model.train(was_training)
    turns = [sum(len(examples) for _, examples in part) for part in parts]
    return float(np.average(losses, weights=turns)) if losses else 0.0
