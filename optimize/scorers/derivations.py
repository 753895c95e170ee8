"""The fit of the beam's scorer, as a DSPy optimizer.

>>> compiled = FitScorer(seed=0).compile(program, trainset=conversation_examples(train))
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import ClassVar

import dspy

from kg.calculations import Idf, ReportIndex
from kg.reports import Report
from optimize.fitting import ConversationFit, Dialogues, Progress, silent
from optimize.scorers.derivation_training import ScorerConfig, fit_scorer
from optimize.scorers.turns import TrainingTurn, shortened_turns, training_turns
from programs.beam import BeamQA, ConversationQA
from programs.worlds.report import ReportReader


class FitScorer(ConversationFit):
    """Fits the scorer on training conversations; asks no language model.

    Args:
        settings: Settings of the fit.
        seed: Of folds, weights and dropout; the same seed gives the same weights.
        dialogues: The form model and the network for earlier answers learn from these too; those about a page of
            ``trainset`` count in full.
        progress: Receives the stages.
    """

    Settings: ClassVar = ScorerConfig

    def __init__(
        self,
        settings: ScorerConfig | None = None,
        *,
        seed: int = 0,
        dialogues: Dialogues = (),
        progress: Progress = silent,
    ) -> None:
        super().__init__()
        self.settings = settings if settings is not None else ScorerConfig()
        self.seed, self.dialogues, self.progress = seed, dialogues, progress

    def fit(self, program: ConversationQA, turn: BeamQA, trainset: Sequence[dspy.Example]) -> None:
        """Fits the weights of the scorer."""
        turns, idf = training_data(turn.reader, trainset, self.dialogues)
        described = describe_data(trainset, self.dialogues)
        scorer = fit_scorer(turns, idf, self.settings, self.seed, described, self.progress)
        turn.reader = ReportReader(program.ontology, scorer, program.unmapped)


def training_data(
    reader: ReportReader, trainset: Sequence[dspy.Example], dialogues: Dialogues
) -> tuple[list[TrainingTurn], Idf]:
    """Returns all turns of conversations and dialogues, shortened ones too, and the idf of the reports' tokens.

    Args:
        reader: Builds the graphs.
        trainset: Conversation examples: ``report``, ``questions`` and ``programs``.
        dialogues: Conversations without their reports; those about a page of ``trainset`` get its report.
    """
    idf = Idf.learn(list(dict.fromkeys(_text(example.report) for example in trainset)))
    turns: list[TrainingTurn] = []
    built: dict[Report, ReportIndex] = {}
    for example in trainset:
        report: Report = example.report
        if report not in built:
            built[report] = read_index(reader, report, idf)
        for make in (training_turns, shortened_turns):
            turns += make(content_sha256(report), built[report], example.questions, example.programs)
    pages = {document_name(report.id): report for report in built}
    unknown = ReportIndex([], [], idf)
    for name, questions, programs in dialogues:
        page = pages.get(document_name(name))
        group, index = (name, unknown) if page is None else (content_sha256(page), built[page])
        for make in (training_turns, shortened_turns):
            turns += make(group, index, questions, programs)
    return turns, idf


def read_index(reader: ReportReader, report: Report, idf: Idf) -> ReportIndex:
    """Returns a report's index with an idf other than the reader's."""
    graph, _ = reader.read(report)
    return ReportIndex(graph.observations, report.sentences, idf)


_KEY = 16
_ID = re.compile(r"(?:Single_|Double_)?(?P<document>.+?)(?:-\d+)?")


def document_name(conversation_id: str) -> str:
    """Returns the page of a conversation: ``ACME/2020/page_7.pdf`` of ``Double_ACME/2020/page_7.pdf-1``."""
    match = _ID.fullmatch(conversation_id)
    return match["document"] if match else conversation_id


def content_sha256(report: Report) -> str:
    """Returns the hash of a document's content: the same one may carry several ids, one a conversation."""
    return hashlib.sha256(repr((report.sentences, report.table)).encode()).hexdigest()


def page_key(name: str) -> str:
    """Returns the key of a page by its name or the hash of its content."""
    return hashlib.sha256(name.encode()).hexdigest()[:_KEY]


def page_keys(report: Report) -> set[str]:
    """Returns the keys of a report's page: a copy of it has the same name or the same content."""
    return {page_key(document_name(report.id)), page_key(content_sha256(report))}


def _text(report: Report) -> str:
    return " ".join([*report.sentences, *(cell for row in report.table for cell in row)])


def describe_data(trainset: Sequence[dspy.Example], dialogues: Sequence[object]) -> str:
    """Returns the numbers of conversations, turns and dialogues in words."""
    turns = sum(len(example.programs) for example in trainset)
    return f"{len(trainset)} conversations, {turns} turns; {len(dialogues)} dialogues without documents"
