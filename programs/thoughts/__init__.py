"""Questions about a growing graph, which a language model extends until it holds their answer."""

from programs.thoughts.config import GrowingWorld, Thoughts, ThoughtsConfig
from programs.thoughts.loop import KnowledgeGraphOfThoughts
from programs.thoughts.types import operations_type

__all__ = ["GrowingWorld", "KnowledgeGraphOfThoughts", "Thoughts", "ThoughtsConfig", "operations_type"]
