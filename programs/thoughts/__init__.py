"""The package ``programs.thoughts``."""

from programs.thoughts.config import ThoughtsConfig
from programs.thoughts.loop import KnowledgeGraphOfThoughts

__all__ = [
    "KnowledgeGraphOfThoughts",
    "ThoughtsConfig",
]
