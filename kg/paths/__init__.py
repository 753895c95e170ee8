"""Beam search for paths of relations between entities: linking, features, scorers, merged answers."""

from kg.paths.accumulator import PathAccumulator, ReasoningPath, gcr_prediction
from kg.paths.features import LIKENESS, PAIR_FEATURES, RelationFeatures, RelationNames, relation_features
from kg.paths.question_graph import QuestionGraph, Topics
from kg.paths.ranking import FEATURES, REMEMBERED, Candidates, Memory, PathRanker, Vectors
from kg.paths.scorer import (
    STOP,
    LearnedRelationScorer,
    RelationScorer,
    RelationStep,
    TopicRules,
    inverses,
)
from kg.paths.space import (
    SEPARATOR,
    EntityPath,
    EntityPathAnswer,
    EntitySpace,
    PathConfig,
    answer_question,
    trace,
    without,
)

__all__ = [
    "FEATURES",
    "LIKENESS",
    "PAIR_FEATURES",
    "REMEMBERED",
    "SEPARATOR",
    "STOP",
    "Candidates",
    "EntityPath",
    "EntityPathAnswer",
    "EntitySpace",
    "LearnedRelationScorer",
    "Memory",
    "PathAccumulator",
    "PathConfig",
    "PathRanker",
    "QuestionGraph",
    "ReasoningPath",
    "RelationFeatures",
    "RelationNames",
    "RelationScorer",
    "RelationStep",
    "TopicRules",
    "Topics",
    "Vectors",
    "answer_question",
    "gcr_prediction",
    "inverses",
    "relation_features",
    "trace",
    "without",
]
