"""The package ``kg.paths``."""

from kg.paths.accumulator import PathAccumulator, ReasoningPath, gcr_prediction
from kg.paths.features import LIKENESS, PAIR_FEATURES, RelationFeatures, RelationNames, relation_features
from kg.paths.question_graph import QuestionGraph, Topics
from kg.paths.scorer import (
    STOP,
    FloatArray,
    IntArray,
    LearnedRelationScorer,
    RelationScorer,
    RelationStep,
    TopicRules,
    inverses,
)
from kg.paths.space import (
    ENTITY_PATHS,
    SEPARATOR,
    EntityPath,
    EntityPathAnswer,
    EntitySpace,
    answer_question,
    trace,
    without,
)

__all__ = [
    "ENTITY_PATHS",
    "LIKENESS",
    "PAIR_FEATURES",
    "SEPARATOR",
    "STOP",
    "EntityPath",
    "EntityPathAnswer",
    "EntitySpace",
    "FloatArray",
    "IntArray",
    "LearnedRelationScorer",
    "PathAccumulator",
    "QuestionGraph",
    "ReasoningPath",
    "RelationFeatures",
    "RelationNames",
    "RelationScorer",
    "RelationStep",
    "TopicRules",
    "Topics",
    "answer_question",
    "gcr_prediction",
    "inverses",
    "relation_features",
    "trace",
    "without",
]
