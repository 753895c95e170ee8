"""The fit of the beam's scorer, as a DSPy optimizer.

>>> compiled = FitScorer(seed=0).compile(program, trainset=conversation_examples(train))
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import dspy
from dspy.teleprompt import Teleprompter

from kg.derivations import ReportIndex
from kg.derivations.training import Idf
from kg.errors import ConfigError
from kg.reports import Report
from optimize.needs import Dialogues, Extras
from optimize.optimizer import Optimizer
from optimize.scorers.derivation_training import (
    Progress,
    ScorerConfig,
    TrainingTurn,
    fit_scorer,
    shortened_turns,
    training_turns,
)
from programs.reports import ConversationQA, ReportReader


@dataclass(frozen=True)
class ScorerOptimizer(ScorerConfig, Optimizer):
    """``scorer``: the settings of :class:`FitScorer`."""

    summary: ClassVar[str] = "fits the weights of the beam's scorer"

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the fit."""
        return FitScorer(seed=seed, config=self, dialogues=extras.dialogues, progress=extras.progress)


class FitScorer(Teleprompter):
    """Fits the scorer on training conversations; asks no language model.

    Args:
        seed: Of folds, weights and dropout; the same seed gives the same weights.
        config: Settings of the fit.
        dialogues: Conversations without their reports. The form model and the
            network for earlier answers learn from them too; those about a page of ``trainset`` count in full.
        progress: Called with the name of each stage as it begins.
    """

    def __init__(
        self,
        seed: int = 0,
        config: ScorerConfig | None = None,
        dialogues: Dialogues = (),
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self.seed = seed
        self.config = config if config is not None else ScorerConfig()
        self.dialogues = tuple(dialogues)
        self.progress = progress

    def compile(
        self,
        student: ConversationQA,
        *,
        trainset: list[dspy.Example],
        teacher: object = None,  # noqa: ARG002 - the signature of every optimizer
        valset: list[dspy.Example] | None = None,  # noqa: ARG002
    ) -> ConversationQA:
        """Returns a copy of ``student`` with weights fitted on ``trainset``.

        Args:
            student: The program; it is not changed.
            trainset: Conversation examples: ``report``, ``questions`` and ``programs``.
            teacher: Not used.
            valset: Not used: settings are chosen by cross-validation on train.

        Raises:
            ConfigError: The program does not search by a scorer.
        """
        if student.scorer is None:
            raise ConfigError(f"the {student.kind} has no scorer to fit: choose another optimizer than 'scorer'")
        idf = Idf.learn(list(dict.fromkeys(_text(example.report) for example in trainset)))
        turns = self._turns(student, trainset, idf)
        scorer = fit_scorer(turns, idf, self.config, self.seed, _description(trainset, self.dialogues), self.progress)
        compiled: ConversationQA = student.deepcopy()
        compiled.turn.reader = ReportReader(student.ontology, scorer)
        compiled._compiled = True
        return compiled

    def _turns(self, student: ConversationQA, trainset: list[dspy.Example], idf: Idf) -> list[TrainingTurn]:
        turns: list[TrainingTurn] = []
        built: dict[Report, ReportIndex] = {}
        for example in trainset:
            report: Report = example.report
            if report not in built:
                graph, _ = student.turn.reader.read(report)
                built[report] = ReportIndex(graph.observations, report.sentences, idf)
            for make in (training_turns, shortened_turns):
                turns += make(_group(report), built[report], example.questions, example.programs)
        pages = {document_name(report.id): report for report in built}
        unknown = ReportIndex([], [], idf)
        for name, questions, programs in self.dialogues:
            page = pages.get(document_name(name))
            group, index = (name, unknown) if page is None else (_group(page), built[page])
            for make in (training_turns, shortened_turns):
                turns += make(group, index, questions, programs)
        return turns


_ID = re.compile(r"(?:Single_|Double_)?(?P<document>.+?)(?:-\d+)?")


def document_name(conversation_id: str) -> str:
    """Returns the page of a conversation: ``ACME/2020/page_7.pdf`` of ``Double_ACME/2020/page_7.pdf-1``."""
    match = _ID.fullmatch(conversation_id)
    return match["document"] if match else conversation_id


def _group(report: Report) -> str:
    """Returns a hash of the document's content: one document may have several ids, one a conversation."""
    return hashlib.sha256(repr((report.sentences, report.table)).encode()).hexdigest()


def _text(report: Report) -> str:
    return " ".join([*report.sentences, *(cell for row in report.table for cell in row)])


def _description(trainset: list[dspy.Example], dialogues: Sequence[object]) -> str:
    turns = sum(len(example.programs) for example in trainset)
    return f"{len(trainset)} conversations, {turns} turns; {len(dialogues)} dialogues without documents"
