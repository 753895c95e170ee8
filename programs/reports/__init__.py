"""Questions about reports: a beam search over derivations, a tool agent, and conversations with either."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.reports.agent import AgentConfig, AgentQA
    from programs.reports.beam import BeamQA, Chooser
    from programs.reports.conversation import ConversationQA
    from programs.reports.ontology import OntologyBuilder
    from programs.reports.question import QuestionContext
    from programs.reports.reader import ReportReader
    from programs.reports.world import ConversationState, ReportWorld
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "AgentConfig",
    "AgentQA",
    "BeamQA",
    "Chooser",
    "ConversationQA",
    "ConversationState",
    "OntologyBuilder",
    "QuestionContext",
    "ReportReader",
    "ReportWorld",
]
