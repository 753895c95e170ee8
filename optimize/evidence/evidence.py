"""The fit of the weights of a language model's evidence on the beam's candidates, as a DSPy optimizer.

    >>> with dspy.context(lm=lm):
    ...     compiled = FitEvidence(seed=0).compile(program, trainset=conversation_examples(train))
    >>> compiled.turn.evidence.plans["local/qwen2.5-coder-1.5b"].mode
    'likelihood'

The candidates and their scores are those of held-out reports. A program with an encoder records the pages of its fit,
and its own search answers the others. Any other search is cross-fitted: each part of the training reports is answered
by a search that was fitted without it. The model is asked about the candidates of each turn. Its replies are kept in
DSPy's cache, so a stopped fit continues. Without a language model, only the calibration of the beam's confidence is
fitted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar

import dspy
import numpy as np
from pydantic import Field, PositiveInt
from pydantic.dataclasses import dataclass

from kg.search import merge_key
from optimize.evidence.demonstrations import ShownTurns, choose_demonstrations
from optimize.evidence.searches import PartSearch, unseen
from optimize.evidence.weights import JudgedTurn, choose_blend, improves
from optimize.fitting import ConversationFit, Dialogues, Progress, silent
from optimize.scorers import ScorerConfig, content_sha256
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.evidence import (
    BEAM_ALONE,
    Blend,
    Demonstration,
    EvidenceConfig,
    EvidencePlan,
    PromptForm,
    can_choose,
    length_of,
    name_of,
)
from programs.turns import Turn
from programs.worlds.reader import ReportReader


@dataclass(frozen=True)
class EvidenceSettings:
    """The settings of :class:`FitEvidence`.

    Attributes:
        demonstrations: Turns that are shown in likelihood mode.
        shown: Candidates that are judged.
        turns: Turns on which the model is asked at most; by default all.
        parts: Parts of the reports for cross-validation, where the program has no encoder.
        scorer: Of the searches that are fitted without a part.
    """

    demonstrations: PositiveInt = 10
    shown: Annotated[int, Field(ge=2)] = 10
    turns: PositiveInt | None = None
    parts: Annotated[int, Field(ge=2)] = 5
    scorer: ScorerConfig = field(default_factory=ScorerConfig)


class FitEvidence(ConversationFit):
    """Fits the weights of evidence and of the beam's own confidence.

    Args:
        settings: Settings of the fit.
        seed: Of the parts, the demonstrations and the search's weights.
        dialogues: The cross-fitted searches learn from these too.
        progress: Receives the stages.
    """

    Settings: ClassVar = EvidenceSettings

    def __init__(
        self,
        settings: EvidenceSettings | None = None,
        *,
        seed: int = 0,
        dialogues: Dialogues = (),
        progress: Progress = silent,
    ) -> None:
        super().__init__()
        self.settings = settings if settings is not None else EvidenceSettings()
        self.seed, self.dialogues, self.progress = seed, dialogues, progress
        self.report: dict[str, Any] = {}

    def fit(self, program: ConversationQA, turn: BeamQA, trainset: Sequence[dspy.Example]) -> None:
        """Fits the weights for the current language model.

        The program's demonstrations are kept; conversations with a question of a demonstration are left out of the fit.
        Afterwards ``report`` holds the cross-validated figures.
        """
        lm = dspy.settings.lm
        shown = self._shown(turn, trainset)
        judged = self._judge(program, trainset, shown.demonstrations, shown.conversations, lm)
        self.progress(f"weights, on {len(judged)} turns")
        plans = {**turn.evidence.plans, **self._plans(turn, judged, lm)}
        self.progress(_words(self.report))
        program.evidence = replace(turn.evidence, demonstrations=shown.demonstrations, plans=plans)

    def _shown(self, turn: BeamQA, trainset: Sequence[dspy.Example]) -> ShownTurns:
        """Returns the program's demonstrations; if it has none, some from ``trainset``."""
        kept = turn.evidence.demonstrations
        if not kept:
            self.progress("demonstrations for the language model")
            return choose_demonstrations(trainset, turn.reader, count=self.settings.demonstrations, seed=self.seed)
        asked = {one.asked.rpartition("\n")[2].partition(": ")[2] for one in kept}
        places = (place for place, example in enumerate(trainset) if asked & set(example.questions))
        return ShownTurns(kept, frozenset(places))

    def _plans(self, turn: BeamQA, judged: Sequence[JudgedTurn], lm: Any) -> Mapping[str, EvidencePlan]:
        about = f"{len(judged)} turns of {len({turn.group for turn in judged})} reports"
        alone = choose_blend(judged, seed=self.seed, with_evidence=False, description=about)
        self.report = {"turns": len(judged), "beam": alone.beam_accuracy, "alone": alone.accuracy}
        plans = {BEAM_ALONE: EvidencePlan(blend=alone.blend)}
        asked = [turn for turn in judged if turn.evidence is not None]
        if lm is None or not asked:
            return plans
        described = f"{len(asked)} turns of {len({turn.group for turn in asked})} reports"
        fitted = choose_blend(asked, seed=self.seed, description=described)
        by_beam = [
            turn.right[pick] for turn, pick in zip(judged, alone.picks, strict=True) if turn.evidence is not None
        ]
        helps = improves(by_beam, [turn.right[pick] for turn, pick in zip(asked, fitted.picks, strict=True)])
        self.report |= {"asked": len(asked), "fitted": fitted.accuracy, "asked_beam": fitted.beam_accuracy}
        self.report |= {"helps": helps}
        # A model that helps nothing is not asked: the search's own weights have no place for its evidence.
        plan = EvidencePlan(_prompt(turn, lm), self.settings.shown, fitted.blend if helps else alone.blend)
        return {**plans, name_of(lm): plan}

    def _judge(
        self,
        student: ConversationQA,
        trainset: Sequence[dspy.Example],
        demonstrations: tuple[Demonstration, ...],
        excluded: frozenset[int],
        lm: Any,
    ) -> list[JudgedTurn]:
        """Returns the turns of held-out reports with the candidates of a search, and the model's evidence."""
        left = self.settings.turns if self.settings.turns is not None else math.inf
        judged: list[JudgedTurn] = []
        searches = list(self._searches(student, trainset, excluded))
        for number, (reader, places) in enumerate(searches):
            program = self._asking(student, reader, demonstrations, lm)
            self.progress(f"evidence on {len(places)} conversations, part {number + 1} of {len(searches)}")
            share = left if left == math.inf else math.ceil(left / (len(searches) - number))
            for place in places:
                offered = share > 0
                found = list(self._turns(program, trainset[place], lm if offered else None))
                count = sum(turn.evidence is not None for turn in found)
                share, left = share - count, left - count
                judged += found
        return judged

    def _searches(
        self, student: ConversationQA, trainset: Sequence[dspy.Example], excluded: frozenset[int]
    ) -> Iterable[tuple[ReportReader, list[int]]]:
        """Returns searches, each with the places of the conversations whose reports it was not fitted on."""
        assert isinstance(student.turn, BeamQA)
        if student.turn.reader.scorer.encoder is not None:
            held_out = [place for place in unseen(student.turn, trainset) if place not in excluded]
            order = np.random.default_rng(self.seed).permutation(len(held_out))
            return [(student.turn.reader, [held_out[place] for place in order])]
        self.progress(f"searches, each without one of {self.settings.parts} parts")
        groups = [content_sha256(example.report) for example in trainset]
        names = sorted(set(groups))
        order = np.random.default_rng(self.seed).permutation(len(names))
        part_of = {names[place]: number % self.settings.parts for number, place in enumerate(order)}
        parts = [part_of[group] for group in groups]
        search = PartSearch(student, trainset, parts, excluded, self.seed, self.settings.scorer, self.dialogues)
        every = range(self.settings.parts)
        return zip(map(search, every), map(search.held_out, every), strict=True)

    def _asking(
        self, student: ConversationQA, reader: ReportReader, demonstrations: tuple[Demonstration, ...], lm: Any
    ) -> ConversationQA:
        """Returns the student with another search, which asks the model wherever it may help."""
        program: ConversationQA = student.deepcopy()
        assert isinstance(program.turn, BeamQA)
        program.turn.reader = reader
        plans = {}
        if lm is not None:
            plans = {
                name_of(lm): EvidencePlan(
                    _prompt(program.turn, lm), self.settings.shown, Blend({"beam": 1.0, "share": 0.1})
                )
            }
        program.evidence = EvidenceConfig(answer="always", demonstrations=demonstrations, plans=plans)
        return program

    def _turns(self, program: ConversationQA, example: dspy.Example, lm: Any) -> Iterator[JudgedTurn]:
        with dspy.context(lm=lm):
            turns: list[Turn] = program(report=example.report, questions=list(example.questions)).turns
        for turn, answer in zip(turns, example.answers, strict=True):
            shown = turn.candidates[: self.settings.shown]
            if shown:
                yield JudgedTurn(
                    content_sha256(example.report),
                    tuple(one.score for one in shown),
                    tuple(length_of(one.derivation) for one in shown),
                    tuple(merge_key(one.answer) == merge_key(answer) for one in shown),
                    turn.evidence,
                )


def _words(report: Mapping[str, Any]) -> str:
    """Returns the cross-validated figures in one line."""
    found = f"cross-validated: the beam {report['beam']:.1%}, with lengths {report['alone']:.1%}"
    if "helps" not in report:
        return found
    use = "it is asked" if report["helps"] else "it gains nothing and is not asked"
    return f"{found}; with the model {report['fitted']:.1%} of {report['asked']} turns: {use}"


def _prompt(turn: BeamQA, lm: Any) -> PromptForm:
    """Returns the prompt of the program's own plan for a model, or else the one that suits it."""
    plan = turn.evidence.plans.get(name_of(lm))
    if plan is not None:
        return plan.prompt
    return "shown" if can_choose(lm) else "page"
