"""Fits of the weights and demonstrations of a language model's evidence."""

from optimize.evidence.demonstrations import gold_turns
from optimize.evidence.evidence import EvidenceSettings, FitEvidence
from optimize.evidence.searches import unseen
from optimize.evidence.weights import Fitted, JudgedTurn, choose_blend, improves

__all__ = [
    "EvidenceSettings",
    "FitEvidence",
    "Fitted",
    "JudgedTurn",
    "choose_blend",
    "gold_turns",
    "improves",
    "unseen",
]
