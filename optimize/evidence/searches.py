"""Searches that have not seen the reports on which evidence is fitted.

>>> unseen(program.turn, trainset)           # conversations about pages that the program's encoder was not fitted on
[3, 17, 20]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import dspy

from kg.errors import ConfigError, DataError
from kg.reports import build_ontology
from optimize.fitting import Dialogues
from optimize.scorers import FitScorer, ScorerConfig, document_name, page_keys
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.worlds.reader import ReportReader


def unseen(turn: BeamQA, trainset: Sequence[dspy.Example]) -> list[int]:
    """Returns the places of the conversations about pages that the program's encoder was not fitted on.

    Raises:
        ConfigError: The encoder does not record its pages.
        DataError: It was fitted on the pages of all conversations.
    """
    encoder = turn.reader.scorer.encoder
    assert encoder is not None
    if not encoder.pages:
        rule = "its encoder does not record the pages that it was fitted on: compile the program with 'encoder' first"
        raise ConfigError(f"optimizer 'evidence' needs pages that the search has not seen, and {rule}")
    found = [place for place, one in enumerate(trainset) if not page_keys(one.report) & encoder.pages]
    if not found:
        raise DataError(
            f"evidence must be fitted on pages that the search was not fitted on; it was on those of all "
            f"{len(trainset)} conversations"
        )
    return found


@dataclass(frozen=True)
class PartSearch:
    """The fit of a search without a part of the reports; called with the number of the part."""

    student: ConversationQA
    trainset: Sequence[dspy.Example]
    parts: Sequence[int]
    excluded: frozenset[int]
    seed: int
    scorer: ScorerConfig
    dialogues: Dialogues

    def held_out(self, part: int) -> list[int]:
        """Returns the places of the part's conversations, without those that are shown to the model."""
        return [place for place, one in enumerate(self.parts) if one == part and place not in self.excluded]

    def __call__(self, part: int) -> ReportReader:
        """Returns the search that was fitted without the part."""
        inside = [example for example, one in zip(self.trainset, self.parts, strict=True) if one != part]
        program: ConversationQA = self.student.deepcopy()
        assert isinstance(program.turn, BeamQA)
        reports = {example.report.id: example.report for example in inside}
        ontology = build_ontology(reports.values())
        program.turn.reader = ReportReader(ontology, self.student.turn.reader.scorer)
        unknown = {document_name(str(self.trainset[place].get("id", ""))) for place in self.held_out(part)}
        dialogues = [one for one in self.dialogues if document_name(one[0]) not in unknown]
        program = FitScorer(self.scorer, seed=self.seed, dialogues=dialogues).compile(program, trainset=inside)
        assert isinstance(program.turn, BeamQA)
        reader: ReportReader = program.turn.reader
        return reader
