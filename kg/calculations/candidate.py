"""The proposal of a search for one question: a derivation, its answer, its score and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from kg.reports import Source
from kg.search import Answer, Derivation


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
