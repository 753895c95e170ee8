"""Fitting the beam's scorer together with the encoder, as a DSPy optimizer.

>>> settings = EncoderSettings(base="all-MiniLM-L6-v2")
>>> compiled = FitEncoder(settings).compile(program, trainset=conversation_examples(train))
>>> compiled.scorer.confidence.fitted_on
'2410 turns of 551 held-out reports'

Scorer and encoder are fitted on most reports. The weights that blend them and the confidence are fitted on the others,
so that they hold for reports that neither has seen. A page is on one side over all conversations.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, ClassVar

import dspy
import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from kg.calculations import ReportIndex
from kg.encoders import TextEncoder, WordPiece
from kg.errors import ConfigError
from kg.reports import Report, build_ontology
from optimize.encoders.examples import EncoderConfig, base_vocabulary, encoder_data
from optimize.encoders.held_out import HeldOutFit, fit_blend, held_out_conversations, pages_of
from optimize.optimizers import ConversationFit, check_packages
from optimize.scorers import (
    ScorerConfig,
    TrainingTurn,
    describe_data,
    fit_forms_further,
    fit_scorer,
    fit_standalone,
    page_keys,
    read_index,
    training_data,
)
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.worlds.report import ReportReader

Share = Annotated[float, Field(gt=0, lt=1)]

_LEAST_HELD_OUT = 2
CHECKPOINT = "training.pt"
"""The file of a fit in its folder: the state of the encoder's training."""


@dataclass(frozen=True)
class EncoderSettings:
    """The settings of :class:`FitEncoder`.

    Attributes:
        base: The folder of the sentence encoder that training starts from, with ``model.safetensors`` and
            ``vocab.txt``.
        weights: The folder of an encoder that was fitted before and stays as it is, in place of a training. Reports
            whose pages it has seen are on its side; all others are held out.
        further: Which reports fit the forms of the program's own scorer further: those whose id begins so, such as
            ``statements/``. All else but the confidence stays as it is, and so do the forms where ``scorer.form_steps``
            is 0. By default, the whole scorer is fitted.
        held_out: Share in (0, 1) of the reports on which blend and confidence are fitted, and nothing else.
        least_right: The confidence in (0, 1) below which a turn abstains.
        training: Of the encoder.
        scorer: Of the scorer.
    """

    base: str = ""
    weights: str = ""
    further: str = ""
    held_out: Share = 0.15
    least_right: Share = 0.45
    training: EncoderConfig = field(default_factory=EncoderConfig)
    scorer: ScorerConfig = field(default_factory=ScorerConfig)


class FitEncoder(ConversationFit):
    """Fits scorer, encoder, blend and confidence on training conversations; asks no language model.

    The folder keeps the checkpoint of the training.
    """

    Settings: ClassVar = EncoderSettings
    settings: EncoderSettings
    keeps_folder = True

    def fit(self, program: ConversationQA, turn: BeamQA, trainset: Sequence[dspy.Example]) -> None:
        """Fits scorer, encoder, blend, the final ranking, and the confidence."""
        own, further = turn.reader.scorer, self.settings.further
        kept = own.encoder if further else self._kept_encoder()
        unseen = [one for one in trainset if further and one.report.id.startswith(further)]
        rest = [one for one in trainset if not (further and one.report.id.startswith(further))]
        inside, outside = (
            split_reports(rest, self.settings.held_out, self.seed) if kept is None else split_by_pages(rest, kept.pages)
        )
        self.progress(f"{len(inside)} conversations to fit on, {len(outside)} held out")
        reports = {example.report.id: example.report for example in inside}
        ontology = program.ontology if further else build_ontology(reports.values())
        reader = ReportReader(ontology, own)
        forms = not further or self.settings.scorer.form_steps > 0
        turns, idf = training_data(reader, inside if forms else ())
        idf = own.idf if further else idf

        def read(report: Report) -> ReportIndex:
            return read_index(reader, report, idf)

        held_out = held_out_conversations(outside, read)
        if not forms:
            scorer = own
        elif further:
            self.progress(f"forms on {len(turns)} turns, and on {len(unseen)} conversations of {further}")
            others = [turn for one in held_out_conversations(unseen, read) for turn in one.turns]
            scorer = replace(own, forms=fit_forms_further(own, turns, others, self.settings.scorer))
        else:
            described = describe_data(inside)
            scorer = fit_scorer(turns, idf, self.settings.scorer, self.seed, described, self.progress)
            encoder = kept if kept is not None else self._trained(turns).with_pages(pages_seen(inside))
            scorer = replace(scorer, encoder=encoder, standalone=fit_standalone(turns))
            scorer = fit_blend(scorer, [turn for one in held_out for turn in one.turns], self.progress)
        fit = HeldOutFit(scorer, turn.config, held_out, self.without_programs, read, self.progress)
        fit = fit if further else fit.with_final()
        fit = fit.with_confidence(self.settings.least_right)
        turn.reader = ReportReader(program.ontology, fit.scorer.rounded())

    def _kept_encoder(self) -> TextEncoder | None:
        """The encoder that stays as it is."""
        if not self.settings.weights:
            return None
        encoder = TextEncoder.read(Path(self.settings.weights).expanduser())
        if not encoder.pages:
            raise ConfigError("encoder.weights must name an encoder that records its pages in pages.txt")
        return encoder

    def _base(self) -> Path:
        check_packages(("torch", "onnx"), "train", "encoder")
        if not self.settings.base:
            rule = "encoder.base must name the folder of a sentence encoder such as all-MiniLM-L6-v2"
            raise ConfigError(f"{rule} (model.safetensors, vocab.txt), got none")
        return Path(self.settings.base).expanduser()

    def _trained(self, turns: Sequence[TrainingTurn]) -> TextEncoder:
        """The trained encoder; a training that was stopped continues from its checkpoint."""
        base = self._base()
        vocabulary = base_vocabulary(base)
        from optimize.encoders.export import export_encoder
        from optimize.encoders.training import train_encoder

        data = encoder_data(turns, WordPiece(vocabulary))
        model = train_encoder(
            base,
            data,
            self.settings.training,
            self.seed,
            checkpoint=self.folder / CHECKPOINT if self.folder is not None else None,
            progress=self.progress,
        )
        self.progress("encoder: export")
        return export_encoder(model, vocabulary, data)


def split_reports(
    trainset: Sequence[dspy.Example], held_out: float, seed: int
) -> tuple[list[dspy.Example], list[dspy.Example]]:
    """Returns the conversations to fit on and those that are held out; a page is on one side.

    Args:
        trainset: Conversation examples.
        held_out: The share of the pages in (0, 1) that is held out, of at least two pages.
        seed: Of the draw.

    Raises:
        ConfigError: There are fewer than three pages.
    """
    pages = pages_of([example.report for example in trainset])
    names = sorted(set(pages))
    if len(names) <= _LEAST_HELD_OUT:
        raise ConfigError(f"optimizer 'encoder' needs conversations about at least 3 reports, got {len(names)}")
    count = min(max(math.ceil(held_out * len(names)), _LEAST_HELD_OUT), len(names) - 1)
    drawn = {names[place] for place in np.random.default_rng(seed).permutation(len(names))[:count]}
    return _sides(trainset, [page in drawn for page in pages])


def split_by_pages(
    trainset: Sequence[dspy.Example], pages: Collection[str]
) -> tuple[list[dspy.Example], list[dspy.Example]]:
    """Returns the conversations about pages whose keys are given, and the others.

    Raises:
        ConfigError: One side is empty.
    """
    sides = _sides(trainset, [page_keys(example.report).isdisjoint(pages) for example in trainset])
    if not all(sides):
        raise ConfigError("encoder.weights must have seen some of the reports, and not all of them")
    return sides


def _sides(
    trainset: Sequence[dspy.Example], is_outside: Sequence[bool]
) -> tuple[list[dspy.Example], list[dspy.Example]]:
    sides: tuple[list[dspy.Example], list[dspy.Example]] = ([], [])
    for example, outside in zip(trainset, is_outside, strict=True):
        sides[outside].append(example)
    return sides


def pages_seen(inside: Sequence[dspy.Example]) -> set[str]:
    """Returns the keys of the pages of a fit."""
    return set().union(*(page_keys(example.report) for example in inside))
