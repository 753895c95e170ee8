"""Training of the encoder on turns with gold programs.

>>> model = train_encoder(Path("all-MiniLM-L6-v2"), data, EncoderConfig(epochs=2), checkpoint=Path("training.pt"))

Random draws depend on the seed and the number of the step alone. A training that was killed therefore continues from
its checkpoint with the same result as one that was not.
"""

from __future__ import annotations

import dataclasses
import hashlib
import pickle
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kg.errors import DataError
from optimize.encoders.examples import MASK, EncoderConfig, EncoderData, EncoderExample, base_vocabulary
from optimize.encoders.model import Encoder, Reader
from optimize.encoders.reading import EncoderPass, Unit, batches, by_page, held_out_loss, thinned
from optimize.fitting import Progress, silent

_BETAS = (0.9, 0.98)
_WARM_UP, _LEAST_RATE = 0.06, 0.02
_LONGEST_GRADIENT = 1.0
_REPORTED_STEPS = 20


def train_encoder(
    base: Path,
    data: EncoderData,
    config: EncoderConfig,
    seed: int = 0,
    *,
    held_out: EncoderData | None = None,
    checkpoint: Path | None = None,
    progress: Progress = silent,
) -> Reader:
    """Returns the base model fitted to the examples.

    Args:
        base: The folder of a sentence encoder, see :meth:`Encoder.pretrained`.
        data: Turns to learn from.
        config: Settings.
        seed: Of the heads' first weights, the order and the dropout.
        held_out: Turns on which the loss is measured after each epoch.
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
            _Training(model, data, config, seed, mask, checkpoint, progress).run(held_out)
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

    def run(self, held_out: EncoderData | None) -> None:
        """Goes through what is left of all epochs."""
        self._resume()
        self.model.train()
        while self.epoch < self.config.epochs:
            for place, units in enumerate(self._batches(self.epoch)):
                self._step(place, units)
            self.epoch += 1
            if held_out is not None and held_out.examples:
                loss = held_out_loss(self.model, held_out)
                self.progress(f"encoder: after epoch {self.epoch}, held-out loss {loss:.3f}")
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
        config = dataclasses.replace(self.config, threads=1)
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
