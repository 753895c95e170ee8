"""The programs of finpath: ``dspy.Module`` classes around a beam search over graphs.

    from programs import Aggregate, Answer, BeamQA, Understand

Each is imported when it is first used (PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from programs.advisor import Advisor as Advisor
    from programs.agent import AgentQA as AgentQA
    from programs.aggregate import Aggregate as Aggregate
    from programs.answer import Answer as Answer
    from programs.beam import BeamQA as BeamQA
    from programs.conversation import ConversationQA as ConversationQA
    from programs.thoughts import KnowledgeGraphOfThoughts as KnowledgeGraphOfThoughts
    from programs.understand import Understand as Understand

_MODULES = {
    "Advisor": "programs.advisor",
    "AgentQA": "programs.agent",
    "Aggregate": "programs.aggregate",
    "Answer": "programs.answer",
    "BeamQA": "programs.beam",
    "ConversationQA": "programs.conversation",
    "KnowledgeGraphOfThoughts": "programs.thoughts",
    "Understand": "programs.understand",
}

__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
