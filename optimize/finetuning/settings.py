"""The settings of fine-tuning."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from optimize.settings import AtLeast0, AtLeast1, NotNegative, settings

Positive = Annotated[float, Field(gt=0)]


@settings
class TrainingConfig:
    """The training of an adapter.

    Attributes:
        hours: Time for the training; the learning rate falls to its end within it.
        epochs: Passes over all examples, if the time is enough.
        rank: Rank of the adapters.
        alpha: The adapters are scaled by ``alpha / rank``.
        blocks: Transformer blocks that get adapters, the last ones. Fewer are faster, as the blocks below them need no
            gradients.
        learning_rate: The largest learning rate.
        weight_decay: Of the adapters.
        batch_tokens: Tokens of a step at the most.
        longest: Tokens of a conversation at the most; later turns are left out.
        together: Conversations about one document of which the common beginning is computed once, at most; only those
            that follow each other.
        vocabulary: Common tokens among which replies are learned, in addition to those that replies have.
        token_weight: Weight of the loss among all tokens, in addition to the loss among the branches of rivals.
        point_seconds: Seconds between two points of the curves.
        checkpoint_seconds: Seconds between two checkpoints.
        threads: Threads of torch on a CPU.
    """

    hours: Positive = 2.0
    epochs: AtLeast1 = 1
    rank: AtLeast1 = 8
    alpha: Positive = 16.0
    blocks: AtLeast1 = 12
    learning_rate: Positive = 5e-4
    weight_decay: NotNegative = 0.0
    batch_tokens: AtLeast1 = 1024
    longest: AtLeast1 = 768
    together: AtLeast1 = 1
    vocabulary: AtLeast0 = 4096
    token_weight: Positive = 0.3
    point_seconds: Positive = 600.0
    checkpoint_seconds: Positive = 300.0
    threads: AtLeast1 = 1
