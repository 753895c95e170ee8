"""Training of :class:`kg.calculations.network.ChoiceNetwork`: a softmax over the alternatives of each choice.

The loss of a choice is minus the logarithm of the probability of its right alternatives together, so several
equally right ones (the same figure in the table and in a sentence) need not be distinguished. Adam on mini-batches of
choices, with dropout of hidden units and weight decay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kg.arrays import BoolArray, FloatArray
from kg.calculations import ChoiceNetwork

_NAMES = ("rows_in", "group_in", "bias", "out", "skip", "pairs")


@dataclass(frozen=True)
class NetworkChoice:
    """One training example: alternatives, their common features, and the right ones.

    Attributes:
        rows: Shape ``(alternatives, row features)``.
        group: Shape ``(group features,)``.
        right: Shape ``(alternatives,)``, true for at least one.
        pairs: Shape ``(alternatives, pair features)``; zero columns where there are none.
    """

    rows: FloatArray
    group: FloatArray
    right: BoolArray
    pairs: FloatArray
    weight: float = 1.0


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of one training.

    Attributes:
        hidden: Hidden units.
        epochs: Passes over the choices.
        batch: Choices a step.
        rate: Adam's step size, falling linearly to a tenth.
        decay: L2 penalty on all weights but the bias.
        dropout: Share of hidden units left out in a step, in [0, 1).
    """

    hidden: int = 64
    epochs: int = 50
    batch: int = 32
    rate: float = 3e-3
    decay: float = 5e-3
    dropout: float = 0.2


def train(
    choices: Sequence[NetworkChoice],
    config: TrainingConfig,
    seed: int,
    *,
    start: FloatArray | None = None,
) -> ChoiceNetwork:
    """Fits a network to choices.

    Args:
        choices: At least one; all with the same numbers of features.
        config: Settings.
        seed: Of the initial weights, the order and the dropout.
        start: Linear weights of the rows to begin with, towards which the decay pulls; zeros by default. The hidden
            units then begin small, so that the network begins as the linear score that ``start`` makes.

    Returns:
        The network after the last pass.
    """
    rng = np.random.default_rng(seed)
    weights = _initial(choices[0], config.hidden, rng)
    target = np.zeros_like(weights["skip"]) if start is None else start.astype(np.float32)
    if start is not None:
        weights["skip"] = target.copy()
        weights["out"] *= np.float32(0.1)
    moments = {name: (np.zeros_like(array), np.zeros_like(array)) for name, array in weights.items()}
    steps = 0
    total = config.epochs * -(-len(choices) // config.batch)
    for _ in range(config.epochs):
        order = rng.permutation(len(choices))
        for place in range(0, len(order), config.batch):
            batch = [choices[number] for number in order[place : place + config.batch]]
            _, gradients = _gradients(weights, batch, config, rng)
            gradients["skip"] = gradients["skip"] - np.float32(config.decay) * target
            steps += 1
            rate = config.rate * (1 - 0.9 * steps / total)
            _adam(weights, gradients, moments, steps, rate, config.decay)
    return ChoiceNetwork(**weights)


def _initial(choice: NetworkChoice, hidden: int, rng: np.random.Generator) -> dict[str, FloatArray]:
    rows, group, pairs = choice.rows.shape[1], choice.group.shape[0], choice.pairs.shape[1]
    scale = 1.0 / np.sqrt(rows)
    return {
        "rows_in": rng.normal(0, scale, (rows, hidden)).astype(np.float32),
        "group_in": rng.normal(0, 1.0 / np.sqrt(group), (group, hidden)).astype(np.float32),
        "bias": np.zeros(hidden, dtype=np.float32),
        "out": rng.normal(0, 1.0 / np.sqrt(hidden), hidden).astype(np.float32),
        "skip": np.zeros(rows, dtype=np.float32),
        "pairs": np.zeros((group, pairs), dtype=np.float32),
    }


def _gradients(
    weights: dict[str, FloatArray], batch: Sequence[NetworkChoice], config: TrainingConfig, rng: np.random.Generator
) -> tuple[float, dict[str, FloatArray]]:
    sizes = np.array([len(choice.rows) for choice in batch])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    segment = np.repeat(np.arange(len(batch)), sizes)
    rows = np.concatenate([choice.rows for choice in batch])
    group = np.stack([choice.group for choice in batch])
    pairs = np.concatenate([choice.pairs for choice in batch])
    right = np.concatenate([choice.right for choice in batch])
    hidden: FloatArray = rows @ weights["rows_in"] + (group @ weights["group_in"])[segment] + weights["bias"]
    mask = np.greater(hidden, 0).astype(np.float32)
    if config.dropout > 0:
        mask *= np.greater_equal(rng.random(mask.shape[1]), config.dropout).astype(np.float32) / (1 - config.dropout)
    hidden = hidden * mask
    pair_weights = (group @ weights["pairs"])[segment]
    scores = hidden @ weights["out"] + rows @ weights["skip"] + (pairs * pair_weights).sum(axis=1)
    top = np.maximum.reduceat(scores, starts)
    exponent = np.exp(scores - top[segment])
    everything = np.add.reduceat(exponent, starts)
    good = np.add.reduceat(exponent * right, starts)
    importance = np.array([choice.weight for choice in batch], dtype=np.float32)
    loss = float((importance * -np.log(np.maximum(good, 1e-12) / everything)).sum())
    error = exponent / everything[segment] - exponent * right / np.maximum(good, 1e-12)[segment]
    error = (error * importance[segment] / len(batch)).astype(np.float32)
    back = error[:, None] * weights["out"] * mask
    by_group = np.add.reduceat(back, starts, axis=0)
    return loss, {
        "rows_in": rows.T @ back,
        "group_in": group.T @ by_group,
        "bias": by_group.sum(axis=0),
        "out": hidden.T @ error,
        "skip": rows.T @ error,
        "pairs": group.T @ np.add.reduceat(pairs * error[:, None], starts, axis=0),
    }


def _adam(
    weights: dict[str, FloatArray],
    gradients: dict[str, FloatArray],
    moments: dict[str, tuple[FloatArray, FloatArray]],
    step: int,
    rate: float,
    decay: float,
) -> None:
    for name in _NAMES:
        gradient = gradients[name] + (0.0 if name == "bias" else decay) * weights[name]
        first, second = moments[name]
        first *= 0.9
        first += 0.1 * gradient
        second *= 0.99
        second += 0.01 * gradient * gradient
        corrected = np.sqrt(second / (1 - 0.99**step)) + 1e-7
        weights[name] -= (rate / (1 - 0.9**step) * first / corrected).astype(np.float32)
