"""Beam search for paths of relations between entities: linking, features, scorers, merged answers."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.paths.features import LIKENESS, PAIR_FEATURES, RelationFeatures, RelationNames, relation_features
    from kg.paths.large_graphs import MOST_TYPED, read_graph
    from kg.paths.linking import QuestionGraph, Topics
    from kg.paths.ranking import CANDIDATES, FEATURES, PathRanker, Vectors, widened
    from kg.paths.scorer import STOP, LearnedRelationScorer, RelationStep, inverses
    from kg.paths.space import (
        SEPARATOR,
        EntityPath,
        EntityPathAnswer,
        EntitySpace,
        PathConfig,
        answer_question,
        completed_paths,
        without,
    )
else:
    __getattr__ = lazy_exports(__name__, __file__)
