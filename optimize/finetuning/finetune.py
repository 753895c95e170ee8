"""The fine-tuning of an embedded model for the choice among candidates, as a DSPy optimizer.

    >>> with dspy.context(lm=lm):
    ...     compiled = FitAdapter(seed=0).compile(program, trainset=conversation_examples(train))
    >>> compiled.turn.evidence.plans["local/qwen2.5-coder-0.5b+finetuned"].prompt
    'brief'

The model learns on most reports to write the calculation that answers a question. On the other reports, the optimizer
``evidence`` fits the weights that blend its evidence with the beam's score. A page is on one side. Held out are the
pages that the search's encoder was not fitted on, where it records its pages, and else a share of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import dspy
from pydantic import Field, PositiveInt
from pydantic.dataclasses import dataclass

from kg.errors import ConfigError
from optimize.encoders import split_reports
from optimize.evidence import EvidenceSettings, FitEvidence, unseen
from optimize.finetuning.adapter import AdapterConfig, check_packages, train_adapter
from optimize.finetuning.examples import training_chats
from optimize.fitting import ConversationFit, Plot, Progress, silent
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.evidence import EvidencePlan
from programs.lm import EmbeddedEngine

MEASURED = 40
"""Held-out conversations on which the training's curves are measured."""

LEAST_MARGIN = 9.7
"""Conversations whose file gives their programs a lower ``margin`` are left out: such programs were inferred."""


@dataclass(frozen=True)
class FinetuneSettings:
    """The settings of :class:`FitAdapter`.

    Attributes:
        name: The adapter's name: the model is then ``local/MODEL+NAME``.
        held_out: Share in (0, 1) of the reports on which the evidence is weighed, where the search was fitted on
            none of them or does not record its pages.
        turns: Held-out turns on which it is weighed, at most.
        training: Of the adapter.
    """

    name: str = "finetuned"
    held_out: Annotated[float, Field(gt=0, lt=1)] = 0.15
    turns: PositiveInt = 600
    training: AdapterConfig = field(default_factory=AdapterConfig)


class FitAdapter(ConversationFit):
    """Trains an adapter of an embedded model, and fits the weights of its evidence.

    Args:
        settings: Settings.
        seed: Of the split, the adapter's start and the order of the examples.
        folder: Keeps checkpoints, to continue from.
        progress: Receives the stages.
        plot: Receives the points of the curves.
    """

    Settings: ClassVar = FinetuneSettings

    def __init__(
        self,
        settings: FinetuneSettings | None = None,
        *,
        seed: int = 0,
        folder: Path | None = None,
        progress: Progress = silent,
        plot: Plot | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings if settings is not None else FinetuneSettings()
        self.seed, self.folder, self.progress, self.plot = seed, folder, progress, plot
        self.card: dict[str, Any] = {}

    def fit(self, program: ConversationQA, turn: BeamQA, trainset: Sequence[dspy.Example]) -> None:
        """Trains the adapter, and adds a plan for the model with it."""
        lm = dspy.settings.lm
        engine = getattr(lm, "engine", None)
        if not isinstance(engine, EmbeddedEngine):
            named = getattr(lm, "model", "none")
            raise ConfigError(f"optimizer 'finetune' trains an embedded model: name one with --lm local, got {named}")
        if engine.settings.adapter is not None:
            raise ConfigError(f"optimizer 'finetune' begins from a model without an adapter, got {engine.name}")
        check_packages()
        inside, outside = self._split(turn, [one for one in trainset if _is_certain(one)])
        self.progress(f"{len(inside)} conversations to learn, {len(outside)} held out")
        evidence = EvidenceSettings(turns=self.settings.turns)
        self.card = train_adapter(
            engine,
            training_chats(turn, inside, evidence.shown),
            training_chats(turn, outside[:MEASURED], evidence.shown),
            name=self.settings.name,
            config=self.settings.training,
            seed=self.seed,
            folder=self.folder,
            progress=self.progress,
            plot=self.plot,
        )
        tuned = lm.copy(model=f"{engine.name}+{self.settings.name}")
        plans = {**turn.evidence.plans, tuned.model: EvidencePlan("brief")}
        program.evidence = replace(turn.evidence, plans=plans)
        with dspy.context(lm=tuned):
            FitEvidence(evidence, seed=self.seed, progress=self.progress).fit(program, turn, outside)

    def _split(self, turn: BeamQA, trainset: Sequence[dspy.Example]) -> tuple[list[dspy.Example], list[dspy.Example]]:
        """The conversations to learn, and those on whose pages the evidence is weighed."""
        encoder = turn.reader.scorer.encoder
        outside = set(unseen(turn, trainset)) if encoder is not None and encoder.pages else set()
        if len(outside) in (0, len(trainset)):
            return split_reports(trainset, self.settings.held_out, self.seed)
        sides: tuple[list[dspy.Example], list[dspy.Example]] = ([], [])
        for place, example in enumerate(trainset):
            sides[place in outside].append(example)
        return sides


def _is_certain(example: dspy.Example) -> bool:
    margin = example.get("margin")
    return margin is None or margin >= LEAST_MARGIN
