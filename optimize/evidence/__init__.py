"""Fits of the weights and demonstrations of a language model's evidence."""

from optimize.evidence.evidence import EvidenceOptimizer, FitEvidence

__all__ = [
    "EvidenceOptimizer",
    "FitEvidence",
]
