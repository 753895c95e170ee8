"""The confidence in a parse: a logistic function of what it costs, what it leaves over and what else was possible.

    >>> Confidence.shipped().of(features(parses, used, follows_abstention=False))
    0.93

The weights are in ``confidence.json``; ``benchmarks/fit_confidence.py`` fits them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kg.parsing.parser import Parse
from kg.vocabulary import Mention

FILE = Path(__file__).with_name("confidence.json")


def features(parses: Sequence[Parse], references: Sequence[Mention], *, follows_abstention: bool) -> dict[str, float]:
    """The values that the confidence in the first of some parses depends on; empty without one.

    Args:
        parses: The parses, best first, one for each answer.
        references: The references that the first uses.
        follows_abstention: Whether the turn before has no answer.
    """
    if not parses:
        return {}
    best = parses[0]
    margin = min(parses[1].cost - best.cost, 1.0) if len(parses) > 1 else 1.0
    return {
        "cost": best.cost,
        "cost_above_1": max(best.cost - 1.0, 0.0),
        "margin": margin,
        "support": best.support,
        "left": best.left,
        "part_left": float(best.left > 0.3),
        "word_left": float(best.left > 0.8),
        "over": best.over,
        "reference": float(bool(references)),
        "reference_cost": sum(one.cost for one in references),
        "after_abstention": float(follows_abstention and bool(references)),
        "several": math.log2(max(len(best.nodes), 1)),
        "count": float(best.operation == "count"),
        "false": float(best.holds is False),
        "unsaid": float(best.support < 0.3),
        "hardly_said": max(0.0, 0.7 - best.support),
    }


@dataclass(frozen=True)
class Confidence:
    """A logistic function of named features.

    Attributes:
        bias: The constant.
        weights: The weight of each feature; features without one count nothing.
    """

    bias: float
    weights: Mapping[str, float]

    @classmethod
    def shipped(cls) -> Confidence:
        """The fitted function."""
        return _shipped()

    def of(self, values: Mapping[str, float]) -> float:
        """The probability in [0, 1] that a parse with these features is right; 0 without a parse."""
        if not values:
            return 0.0
        total = self.bias + sum(self.weights.get(name, 0.0) * value for name, value in values.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


@cache
def _shipped() -> Confidence:
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    return Confidence(float(stored["bias"]), {name: float(value) for name, value in stored["weights"].items()})
