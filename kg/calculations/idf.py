"""Inverse document frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kg.text import tokens


@dataclass(frozen=True)
class Idf:
    """Inverse document frequencies of tokens, learned from training reports.

    Attributes:
        weights: From a token to its weight, larger than 0.
        unseen: The weight of any other token.
    """

    weights: Mapping[str, float]
    unseen: float

    def __call__(self, token: str) -> float:
        """The weight of a token."""
        return self.weights.get(token, self.unseen)

    @classmethod
    def learn(cls, documents: Sequence[str]) -> Idf:
        """Counts in how many documents each token occurs; tokens of a single document count as unseen."""
        counts: dict[str, int] = {}
        for document in documents:
            for token in set(tokens(document)):
                counts[token] = counts.get(token, 0) + 1
        total = max(len(documents), 1)
        weights = {
            token: round(float(np.log(1 + total / count)), 4) for token, count in sorted(counts.items()) if count > 1
        }
        return cls(weights, round(float(np.log(1 + total)), 4))
