"""What a search proposes for one question: a derivation, its answer, its score and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from kg.derivations.derivation import Answer, Derivation
from kg.reports.observation import Source

_PLACES = Decimal("0.00001")


def merge_key(answer: Answer) -> Answer:
    """Equal for answers that are numerically equal to five decimal places, the precision of the official metric."""
    if isinstance(answer, str):
        return answer
    if answer.adjusted() > 20:  # more digits than the default decimal context rounds exactly
        return answer.normalize()
    return answer.quantize(_PLACES, rounding=ROUND_HALF_EVEN) + 0


@dataclass(frozen=True)
class Candidate:
    """One proposed answer.

    Attributes:
        derivation: How it is calculated, complete: nothing refers to another turn.
        answer: The exact result.
        score: Natural logarithm of its probability among the candidates of its turn, at most 0.
        path: The derivation with every figure written as its path through the graph.
        sources: Where each figure of the derivation was read, in the order of ``derivation.numbers``.
    """

    derivation: Derivation
    answer: Answer
    score: float
    path: str
    sources: tuple[Source, ...] = ()
