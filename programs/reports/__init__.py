"""Questions about reports: a beam search over derivations, and conversations with it or another program."""

from programs.reports.beam import BeamQA, Chooser
from programs.reports.conversation import ConversationQA
from programs.reports.ontology import OntologyBuilder
from programs.reports.question import QuestionContext, TurnOutcome
from programs.reports.reader import ReportReader
from programs.reports.world import ConversationState, ReportWorld

__all__ = [
    "BeamQA",
    "Chooser",
    "ConversationQA",
    "ConversationState",
    "OntologyBuilder",
    "QuestionContext",
    "ReportReader",
    "ReportWorld",
    "TurnOutcome",
]
