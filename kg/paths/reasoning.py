"""Paths as text, for people and for GCR's evaluation.

>>> print(gcr_prediction("USA -> president -> Barack Obama", "Barack Obama"))
# Reasoning Path:
USA -> president -> Barack Obama
# Answer:
Barack Obama
"""

from __future__ import annotations

from dataclasses import dataclass

from kg.paths.space import EntityPath


@dataclass(frozen=True)
class ReasoningPath:
    """A path of a search's result.

    Attributes:
        text: As it is written: ``e_0 -> r_1 -> e_1``.
        score: Log-probability, at most 0.
    """

    text: str
    score: float

    @classmethod
    def of(cls, path: EntityPath) -> ReasoningPath:
        """The path of a search's result."""
        return cls(str(path), path.score)


def gcr_prediction(path: str, answer: str) -> str:
    """One prediction in the form of GCR (graph-constrained reasoning; Luo et al., 2024)."""
    return f"# Reasoning Path:\n{path}\n# Answer:\n{answer}"
