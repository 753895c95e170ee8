"""Fits of the scorer of relation paths in entity graphs."""

from optimize.relations.scorer import RelationExample, RelationTrainingConfig, fit_relation_scorer

__all__ = [
    "RelationExample",
    "RelationTrainingConfig",
    "fit_relation_scorer",
]
