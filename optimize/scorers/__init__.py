"""Fits of scorers and evidence weights on training data."""

from optimize.scorers.derivation_training import ScorerConfig
from optimize.scorers.derivations import FitScorer
from optimize.scorers.evidence import FitEvidence
from optimize.scorers.relations import RelationExample, RelationTrainingConfig, fit_relation_scorer
from optimize.scorers.settings import EvidenceSettings

__all__ = [
    "EvidenceSettings",
    "FitEvidence",
    "FitScorer",
    "RelationExample",
    "RelationTrainingConfig",
    "ScorerConfig",
    "fit_relation_scorer",
]
