"""Fits of scorers and evidence weights on training data."""

from optimize.scorers.coreference import ReferenceExample, fit_references, reference_examples
from optimize.scorers.derivation_training import ScorerConfig
from optimize.scorers.derivations import FitScorer, ScorerOptimizer
from optimize.scorers.encoder import EncoderOptimizer, FitEncoder
from optimize.scorers.evidence import EvidenceOptimizer, FitEvidence
from optimize.scorers.relations import RelationExample, RelationTrainingConfig, fit_relation_scorer

__all__ = [
    "EncoderOptimizer",
    "EvidenceOptimizer",
    "FitEncoder",
    "FitEvidence",
    "FitScorer",
    "ReferenceExample",
    "RelationExample",
    "RelationTrainingConfig",
    "ScorerConfig",
    "ScorerOptimizer",
    "fit_references",
    "fit_relation_scorer",
    "reference_examples",
]
