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

from kg.errors import ConfigError
from kg.graphs import GraphIndex
from kg.paths import PathConfig, PathRanker, QuestionGraph, RelationScorer
from programs.beam import BeamQA
from programs.turns import PathDetail
from programs.worlds.paths import AGGREGATIONS, EARLIER, Aggregation, PathWorld
from signatures.paths import UnderstandPaths


class KGQA(BeamQA):
    """Answers questions about the entities of any graph.

    Args:
        scorer: The scorer of relations.
        config: The beam's settings.
        aggregation: The way to select the answers.
        ranker: Ranks whole paths in place of the beam, where no language model scores; ``None`` for none.

    Raises:
        ConfigError: There is no such aggregation.
    """

    scorer: Any = None

    def __init__(
        self,
        scorer: RelationScorer,
        config: PathConfig | None = None,
        aggregation: Aggregation = "score",
        ranker: PathRanker | None = None,
    ) -> None:
        super().__init__(config=config if config is not None else PathConfig(), signature=UnderstandPaths)
        self.scorer = scorer
        self.aggregation: Aggregation = EARLIER.get(aggregation, aggregation)
        if self.aggregation not in AGGREGATIONS:
            raise ConfigError(f"aggregation must be one of {', '.join(AGGREGATIONS)}, got {aggregation!r}")
        self.ranker = ranker

    @property
    def needs_lm(self) -> bool:  # type: ignore[override]
        """Whether it asks a language model to select answers or to score relations."""
        return self.aggregation == "index" or isinstance(self.scorer, dspy.Module)

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
        return dspy.Prediction(
            turn=turn,
            question=turn.question,
            predictions=detail.predictions,
            answers=detail.answers,
            reasoning_trace=detail.reasoning_trace,
            raw_paths=detail.raw_paths,
        )

    def world(self, *, graph: Any, **about: Any) -> PathWorld:  # type: ignore[override]
        """The world of a graph, with the program's scorer and settings."""
        asked = graph if isinstance(graph, QuestionGraph) else QuestionGraph(graph)
        own: dict[str, Any] = {"config": self.config, "aggregation": self.aggregation, "ranker": self.ranker}
        return PathWorld(asked, self.scorer, **own, **about)

    def load_state(self, state: dict[str, Any], **options: Any) -> None:
        """Reads a saved state; earlier versions have its predictor under other names."""
        given = state.get("model_paths.choose", state.get("choose"))
        own = {name: given for name, _ in self.named_parameters()} if given is not None else {}
        super().load_state({**state, **own}, **options)
