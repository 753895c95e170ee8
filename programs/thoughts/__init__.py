"""Questions about a growing graph, which a language model extends until it holds their answer."""

from programs.thoughts.config import Thoughts, ThoughtsConfig
from programs.thoughts.loop import KnowledgeGraphOfThoughts
