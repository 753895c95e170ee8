"""The settings of the encoder's training."""

from __future__ import annotations

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt
from pydantic.dataclasses import dataclass


@dataclass(frozen=True)
class EncoderConfig:
    """The training of the encoder.

    Attributes:
        epochs: Passes over all turns.
        rate: Largest learning rate of the transformer.
        head_rate: Largest learning rate of the heads and the special tokens.
        decay: Weight decay of all matrices.
        frozen: The lowest layers, and the embeddings with them, that stay as they are.
        tokens: Approximate number of tokens of a batch.
        word_dropout: Share of the questions' words that are masked, in [0, 1).
        form_count: Turns in which a template must occur to be scored.
        half: Whether the transformer calculates in bfloat16.
        threads: Threads of torch.
    """

    epochs: PositiveInt = 4
    rate: NonNegativeFloat = 2.5e-4
    head_rate: NonNegativeFloat = 1e-3
    decay: NonNegativeFloat = 0.01
    frozen: NonNegativeInt = 2
    tokens: PositiveInt = 5000
    word_dropout: NonNegativeFloat = 0.08
    form_count: PositiveInt = 3
    half: bool = True
    threads: PositiveInt = 1
