"""Settings of the fit of the beam's scorer."""

from __future__ import annotations

from dataclasses import dataclass, field

from kg.calculations import DerivationConfig


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


@dataclass(frozen=True)
class ScorerConfig:
    """Settings of the fit.

    Attributes:
        form_penalty: L2 penalty of the form model.
        form_steps: Adam steps of the form model.
        feature_count: Turns in which a feature must occur to enter the form model.
        form_count: Turns in which a form must occur to be proposed.
        operands: Training of the network for figures.
        answers: Training of the network for earlier answers, which also learns from reports without figures.
        ensemble: Networks of different seeds that are joined into one; their mean depends less on the seed.
        ranker: Training of the ranker.
        ranker_ensemble: Its networks of different seeds.
        folds: Parts into which the reports are cut: the ranker learns from candidates that were proposed by a search
            that was fitted without their report. Below 2 there is no ranker.
        beam: The search that proposes them.
    """

    form_penalty: float = 5e-4
    form_steps: int = 150
    feature_count: int = 3
    form_count: int = 3
    operands: TrainingConfig = TrainingConfig()
    answers: TrainingConfig = TrainingConfig(epochs=25)
    ensemble: int = 2
    ranker: TrainingConfig = TrainingConfig(hidden=32, epochs=30, rate=4e-3, decay=3e-3)
    ranker_ensemble: int = 3
    folds: int = 4
    beam: DerivationConfig = field(default_factory=DerivationConfig)
