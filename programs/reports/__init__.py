"""The package ``programs.reports``."""

from programs.reports.agent import AgentConfig, AgentQA
from programs.reports.asking import Asked
from programs.reports.beam import BeamQA
from programs.reports.conversation import ConversationQA, ConversationState
from programs.reports.dialogue import ReportTurns
from programs.reports.ontology import OntologyBuilder
from programs.reports.reader import ReportReader

__all__ = [
    "AgentConfig",
    "AgentQA",
    "Asked",
    "BeamQA",
    "ConversationQA",
    "ConversationState",
    "OntologyBuilder",
    "ReportReader",
    "ReportTurns",
]
