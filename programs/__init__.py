"""The programs of finpath: ``dspy.Module`` classes around a beam search over graphs.

from programs import Aggregate, Answer, BeamQA, Understand
"""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.advisor import Advisor
    from programs.agent import AgentQA
    from programs.aggregate import Aggregate
    from programs.beam import Answer, BeamQA, ConversationQA, Understand
    from programs.thoughts import KnowledgeGraphOfThoughts
else:
    __getattr__ = lazy_exports(__name__, __file__)
