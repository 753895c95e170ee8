"""Questions about a growing graph, which a language model extends until it holds their answer."""

from programs.thoughts.loop import KnowledgeGraphOfThoughts
from programs.thoughts.work import Thoughts, ThoughtsConfig
