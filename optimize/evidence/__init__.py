"""Fits of the weights and demonstrations of a language model's evidence."""

from optimize.evidence.abstaining import ABSTAINED_WRONG, AbstentionExample, FittedAbstention, fit_abstention
from optimize.evidence.demonstrations import gold_turns
from optimize.evidence.evidence import EvidenceOptimizer, FitEvidence
from optimize.evidence.searches import unseen
from optimize.evidence.weights import Fitted, JudgedTurn, choose_blend, improves

__all__ = [
    "ABSTAINED_WRONG",
    "AbstentionExample",
    "EvidenceOptimizer",
    "FitEvidence",
    "Fitted",
    "FittedAbstention",
    "JudgedTurn",
    "choose_blend",
    "fit_abstention",
    "gold_turns",
    "improves",
    "unseen",
]
