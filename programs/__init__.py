"""The programs of finpath: ``dspy.Module`` classes around a beam search over graphs.

from programs import Aggregate, Answer, BeamQA, Understand
"""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.advisor import Advisor
    from programs.agent import AgentQA
    from programs.aggregate import Aggregate
    from programs.answer import Answer
    from programs.beam import BeamQA
    from programs.conversation import ConversationQA
    from programs.thoughts import KnowledgeGraphOfThoughts
    from programs.understand import Understand
else:
    __getattr__ = lazy_exports(__name__, __file__)
