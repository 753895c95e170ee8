"""The training of adapters: batches by tokens, a schedule by time, checkpoints, and held-out figures.

The loss of a reply is the sum over its tokens of two cross-entropies: among the tokens that replies have, and among the
tokens with which its rivals go on. The learning rate falls with the share of the work or of the time that is spent,
whichever is larger, so that training ends well when its time does.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from kg.errors import DataError
from optimize.finetuning.model import Decoder
from optimize.finetuning.sequences import Target, TokenSequence
from optimize.finetuning.settings import TrainingConfig
from optimize.needs import Plot, Progress, silent

_WARM_UP = 0.05
_DECAYS = (0.9, 0.98)


@dataclass(frozen=True)
class Point:
    """A point of the training's curves.

    Attributes:
        step: Steps so far.
        replies: Replies that were learned so far.
        tokens: Tokens so far.
        seconds: Time so far.
        loss: The mean loss of a reply since the last point; ``None`` at the start.
        held_out_loss: The mean loss among the branches of a held-out reply; of all its tokens where it has no rivals.
        held_out_accuracy: The share of held-out replies that win at each of their branches, or tokens.
    """

    step: int
    replies: int
    tokens: int
    seconds: float
    loss: float | None
    held_out_loss: float | None = None
    held_out_accuracy: float | None = None

    def values(self) -> dict[str, float]:
        """All that has a value, but for the step, by the names of metrics: ``training/loss``."""
        named = {name: value for name, value in asdict(self).items() if name != "step"}
        return {f"training/{name}": value for name, value in named.items() if value is not None}


@dataclass
class Curves:
    """The counts and curves of a training."""

    step: int = 0
    replies: int = 0
    tokens: int = 0
    seconds: float = 0.0
    points: list[Point] = field(default_factory=list)


class Training:
    """Trains a model's adapters on sequences.

    Args:
        model: The model.
        sequences: What is learned.
        held_out: What is only measured.
        config: The settings.
        seed: Of the order.
        checkpoint: The file that training continues from; ``None`` keeps nothing.
        progress: Receives a line for each point.
        is_cancelled: Asked after every step; training then ends.
        plot: Receives each point of the curves.
    """

    def __init__(
        self,
        model: Decoder,
        sequences: Sequence[TokenSequence],
        held_out: Sequence[TokenSequence],
        config: TrainingConfig,
        seed: int,
        checkpoint: Path | None = None,
        progress: Progress = silent,
        is_cancelled: Callable[[], bool] | None = None,
        plot: Plot | None = None,
    ) -> None:
        self.model, self.config, self.seed = model, config, seed
        self.sequences = [one for one in sequences if one.targets]
        self.held_out = [one for one in held_out if one.targets]
        if not self.sequences:
            raise DataError("no training example has a reply that can be learned")
        self.checkpoint, self.progress = checkpoint, progress
        self._is_cancelled = is_cancelled if is_cancelled is not None else _never
        self._plot = plot
        self.vocabulary = _vocabulary([*self.sequences, *self.held_out], config.vocabulary, model.shape.vocabulary)
        self._place_of = {token: place for place, token in enumerate(self.vocabulary)}
        device = model.embedding.device
        self._output = model.output[torch.tensor(self.vocabulary, device=device)]
        self.parameters = [one for one in model.parameters() if one.requires_grad]
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=config.learning_rate, betas=_DECAYS, weight_decay=config.weight_decay
        )
        self.curves = Curves()
        self.batches = self._batches()

    def run(self) -> Curves:
        """Trains until the epochs or the time are over, from the checkpoint if there is one."""
        self._resume()
        began, before = time.monotonic(), self.curves.seconds
        saved = evaluated = time.monotonic()
        losses: list[float] = []
        if not self.curves.points:
            tokens = sum(len(one.tokens) for one in self.sequences) * self.config.epochs
            self.progress(f"at most {self.config.hours:g} hours, {len(self.batches)} steps, {tokens} tokens")
            self._point(losses)
        self.model.train()
        while self.curves.step < len(self.batches) and not self._is_over():
            batch = [self.sequences[place] for place in self.batches[self.curves.step]]
            losses.append(self._learn(batch))
            self.curves.step += 1
            self.curves.replies += sum(one.replies for one in batch)
            self.curves.tokens += sum(len(one.tokens) for one in batch)
            self.curves.seconds = before + time.monotonic() - began
            if time.monotonic() - evaluated >= self.config.point_seconds:
                self._point(losses)
                losses, evaluated = [], time.monotonic()
            if time.monotonic() - saved >= self.config.checkpoint_seconds:
                self._save()
                saved = time.monotonic()
        if losses:
            self._point(losses)
        self._save()
        return self.curves

    def measure(self, sequences: Sequence[TokenSequence]) -> tuple[float, float]:
        """The mean loss among branches, and the share of replies that win at each of theirs.

        A reply without rivals, as those of plain chats are, is measured by all its tokens among the vocabulary.
        """
        self.model.eval()
        loss, right, count = 0.0, 0, 0
        with torch.no_grad():
            for batch in _by_tokens(sequences, range(len(sequences)), self.config.batch_tokens):
                chosen = [sequences[place] for place in batch]
                logits, targets = self._logits(chosen)
                branched = _branched(logits, targets, self._place_of)
                lost: dict[int, float] = {}
                won: dict[int, bool] = {}
                for target, value, best in branched:
                    lost[target.reply] = lost.get(target.reply, 0.0) + float(value)
                    won[target.reply] = won.get(target.reply, True) and best
                for target, value, best in _unrivalled(logits, targets, self._place_of, won):
                    lost[target.reply] = lost.get(target.reply, 0.0) + float(value)
                    won[target.reply] = won.get(target.reply, True) and best
                loss, right, count = loss + sum(lost.values()), right + sum(won.values()), count + len(won)
        self.model.train()
        return loss / max(count, 1), right / max(count, 1)

    def _learn(self, batch: Sequence[TokenSequence]) -> float:
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.learning_rate * self._rate()
        logits, targets = self._logits(batch)
        replies = sum(one.replies for one in batch)
        weights = torch.tensor([one.weight for one in targets], device=logits.device)
        wanted = torch.tensor([self._place_of[one.token] for one in targets], device=logits.device)
        every = (functional.cross_entropy(logits, wanted, reduction="none") * weights).sum()
        chosen = [value * target.weight for target, value, _ in _branched(logits, targets, self._place_of)]
        branches = torch.stack(chosen).sum() if chosen else logits.new_zeros(())
        loss = (self.config.token_weight * every + branches) / replies
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return float(loss.detach())

    def _logits(self, batch: Sequence[TokenSequence]) -> tuple[torch.Tensor, list[Target]]:
        """The logits of the kept vocabulary at the places of all targets, whose replies get new numbers."""
        device = self._output.device
        tokens = torch.tensor([token for one in batch for token in one.tokens], device=device)
        hidden = self.model(tokens, [one.lengths for one in batch])
        places: list[int] = []
        targets: list[Target] = []
        start = numbered = 0
        for one in batch:
            places += [start + target.place for target in one.targets]
            targets += [
                Target(target.place, target.token, target.branches, numbered + target.reply, target.weight)
                for target in one.targets
            ]
            start, numbered = start + len(one.tokens), numbered + one.replies
        chosen = hidden[torch.tensor(places, device=device)]
        return functional.linear(chosen, self._output).float(), targets

    def _rate(self) -> float:
        spent = max(self.curves.step / len(self.batches), self.curves.seconds / (self.config.hours * 3600))
        warm = min(1.0, (self.curves.step + 1) / max(1.0, min(_WARM_UP * len(self.batches), 20)))
        return warm * max(0.05, 1.0 - spent)

    def _is_over(self) -> bool:
        return self._is_cancelled() or self.curves.seconds >= self.config.hours * 3600

    def _batches(self) -> list[list[int]]:
        found: list[list[int]] = []
        for epoch in range(self.config.epochs):
            order = np.random.default_rng([self.seed, epoch]).permutation(len(self.sequences)).tolist()
            found += _by_tokens(self.sequences, order, self.config.batch_tokens)
        return found

    def _point(self, losses: Sequence[float]) -> None:
        counts = self.curves
        measured = self.measure(self.held_out) if self.held_out else (None, None)
        loss = float(np.mean(losses)) if losses else None
        counts.points.append(Point(counts.step, counts.replies, counts.tokens, counts.seconds, loss, *measured))
        if self._plot is not None:
            self._plot(counts.points[-1].values(), counts.step)
        speed = counts.tokens / counts.seconds if counts.seconds else 0.0
        parts = [f"loss {loss:.3f}"] if loss is not None else []
        parts += [f"held out: loss {measured[0]:.3f}, right {measured[1]:.1%}"] if measured[0] is not None else []
        self.progress(
            f"step {counts.step} of {len(self.batches)}, {counts.replies} replies, {counts.tokens} tokens "
            f"({speed:.0f} a second){', ' if parts else ''}{'; '.join(parts)}"
        )

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        state = {
            "adapters": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "curves": json.dumps(asdict(self.curves)),
            "batches": len(self.batches),
        }
        new = self.checkpoint.with_name(f".{self.checkpoint.name}.new")
        torch.save(state, new)
        new.replace(self.checkpoint)

    def _resume(self) -> None:
        if self.checkpoint is None or not self.checkpoint.is_file():
            return
        state: dict[str, Any] = torch.load(self.checkpoint, map_location=self._output.device, weights_only=True)
        if state["batches"] != len(self.batches):
            raise DataError(
                "the checkpoint is of a training on other data or with other settings: remove it to start anew",
                file=str(self.checkpoint),
            )
        self.model.load_state_dict(state["adapters"])
        self.optimizer.load_state_dict(state["optimizer"])
        kept = json.loads(state["curves"])
        self.curves = Curves(**{**kept, "points": [_point_of(one) for one in kept["points"]]})
        self.progress(f"training continues at step {self.curves.step} of {len(self.batches)}")


def _point_of(record: dict[str, Any]) -> Point:
    """A point of a checkpoint; earlier versions wrote no number for the loss at the start."""
    loss = record["loss"]
    return Point(**{**record, "loss": None if loss is None or math.isnan(loss) else loss})


def _branched(
    logits: torch.Tensor, targets: Sequence[Target], place_of: dict[int, int]
) -> list[tuple[Target, torch.Tensor, bool]]:
    """The cross-entropy of each target among its branches, and whether it is the best of them."""
    found = []
    for row, target in enumerate(targets):
        if not target.branches:
            continue
        known = [place_of[token] for token in target.branches if token in place_of]
        own = place_of[target.token]
        values = logits[row, known]
        lost = torch.logsumexp(values, 0) - logits[row, own]
        found.append((target, lost, known[int(values.argmax())] == own))
    return found


def _unrivalled(
    logits: torch.Tensor, targets: Sequence[Target], place_of: dict[int, int], rivalled: Collection[int]
) -> list[tuple[Target, torch.Tensor, bool]]:
    """The cross-entropy of each token of the replies that have no rivals, and whether it is the most probable one."""
    rows = [row for row, target in enumerate(targets) if target.reply not in set(rivalled)]
    if not rows:
        return []
    own = torch.tensor([place_of[targets[row].token] for row in rows], device=logits.device)
    chosen = logits[rows]
    lost, best = functional.cross_entropy(chosen, own, reduction="none"), chosen.argmax(-1) == own
    return [(targets[row], lost[number], bool(best[number])) for number, row in enumerate(rows)]


def _vocabulary(sequences: Sequence[TokenSequence], others: int, size: int) -> list[int]:
    """The tokens among which replies are learned: all that any reply or rival has, and the most common others."""
    used = {target.token for one in sequences for target in one.targets}
    used |= {token for one in sequences for target in one.targets for token in target.branches}
    return sorted(used | set(range(min(others, size))))


def _by_tokens(sequences: Sequence[TokenSequence], order: Sequence[int] | range, most: int) -> list[list[int]]:
    """Sequences in batches of at most ``most`` tokens, or one alone."""
    found: list[list[int]] = []
    count = most + 1
    for place in order:
        length = len(sequences[place].tokens)
        if count + length > most:
            found.append([])
            count = 0
        found[-1].append(place)
        count += length
    return found


def _never() -> bool:
    return False
