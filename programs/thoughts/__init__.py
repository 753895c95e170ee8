"""Questions about a growing graph, which a language model extends until it holds their answer."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.thoughts.config import GrowingWorld, Thoughts, ThoughtsConfig
    from programs.thoughts.loop import KnowledgeGraphOfThoughts
    from programs.thoughts.types import operations_type
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = ["GrowingWorld", "KnowledgeGraphOfThoughts", "Thoughts", "ThoughtsConfig", "operations_type"]
