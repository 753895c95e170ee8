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

from kg.errors import ConfigError, LMError
from kg.graphs import GraphIndex
from kg.paths import PathConfig, PathRanker, QuestionGraph, RelationScorer
from programs.beam import BeamQA
from programs.turns import PathDetail
from programs.worlds.paths import AGGREGATIONS, EARLIER, Aggregation, PathWorld
from signatures.paths import ChoosePaths


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

    def __init__(
        self,
        scorer: RelationScorer,
        config: PathConfig | None = None,
        aggregation: Aggregation = "score",
        ranker: PathRanker | None = None,
    ) -> None:
        super().__init__(config=config if config is not None else PathConfig(), signature=ChoosePaths)
        self.relations = scorer
        self.aggregation: Aggregation = EARLIER.get(aggregation, aggregation)
        if self.aggregation not in AGGREGATIONS:
            raise ConfigError(f"aggregation must be one of {', '.join(AGGREGATIONS)}, got {aggregation!r}")
        self.ranker = ranker
