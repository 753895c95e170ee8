"""The beam program over graphs with a trained scorer of relations, one question at a time.

>>> program = KGQA(scorer)
>>> found = program(question="who is the spouse of the 44th president of the USA ?", graph=graph, topics=["USA"])
>>> found.answers
(('Michelle Obama', 0.93), ...)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from kg.graphs import GraphIndex
from kg.paths import LearnedRelationScorer, PathConfig, PathRanker, QuestionGraph
from programs.beam import BeamQA
from programs.turns import PathDetail
from programs.worlds.paths import PathWorld
from signatures.paths import UnderstandPaths


class KGQA(BeamQA):
    """Answers questions about the entities of any graph.

    Args:
        scorer: The scorer of relations.
        config: The beam's settings.
        ranker: Ranks whole paths in place of the beam; ``None`` for none.
    """

    scorer: Any = None

    def __init__(
        self, scorer: LearnedRelationScorer, config: PathConfig | None = None, ranker: PathRanker | None = None
    ) -> None:
        super().__init__(config=config if config is not None else PathConfig(), signature=UnderstandPaths)
        self.scorer = scorer
        self.ranker = ranker

    def forward(self, question: str, graph: QuestionGraph | GraphIndex, topics: Sequence[str] = ()) -> dspy.Prediction:  # type: ignore[override]
        """Answers a question.

        Args:
            question: The question.
            graph: The graph that it is asked of.
            topics: The entities that it is about, by name or label; without any, those that it names are found.

        Returns:
            A prediction with ``turn`` (a :data:`programs.worlds.paths.PathTurn`), its ``question``, and
            ``predictions``, ``answers``, ``reasoning_trace`` and ``raw_paths`` of its detail.
        """
        turn = self.ask(self.world(graph=graph, topics=tuple(topics)).start(), question).turns[-1]
        detail = turn.detail if turn.detail is not None else PathDetail()
        names = ("predictions", "answers", "reasoning_trace", "raw_paths")
        return dspy.Prediction(turn=turn, question=turn.question, **{name: getattr(detail, name) for name in names})

    def world(self, *, graph: Any, **about: Any) -> PathWorld:  # type: ignore[override]
        """The world of a graph, with the program's scorer and settings."""
        whole = graph if isinstance(graph, QuestionGraph) else QuestionGraph(graph)
        return PathWorld(whole, self.scorer, config=self.config, ranker=self.ranker, **about)
