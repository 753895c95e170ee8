"""A graph as a world that questions are asked about.

EntityQA().start(GraphWorld(entity_graph, entity_graph.name))
KGQA(scorer).start(GraphWorld(question_graph, "metaqa", topics=("Ann Lee",)))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

GraphT = TypeVar("GraphT")


@dataclass(frozen=True, eq=False)
class GraphWorld(Generic[GraphT]):
    """A graph.

    Attributes:
        graph: The graph: :class:`kg.questions.EntityGraph` for a program that parses questions,
            :class:`kg.paths.QuestionGraph` for one that searches paths.
        name: Its name.
        topics: The entities that the questions are about, where they are known.
    """

    graph: GraphT
    name: str = ""
    topics: tuple[str, ...] = ()
    kind = "graph"
