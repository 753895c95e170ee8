"""The ranking of a question's parses, and the confidence in the first: small networks over their evidence.

    >>> ranked = Ranker.shipped().ranked(parses)
    >>> ranked[0].parse.answer, ranked[0].share
    (frozenset({17}), 0.93)

Derivations with the same answer support each other: an answer's share is the sum of theirs. Yes and no are the answers
of too many derivations for that, so the best decides. The confidence says how probable it is that the first answer is
right, as none may be. ``benchmarks/fit_ranking.py`` fits the networks of ``ranking.npz`` on questions about graphs of
many authors, and those of ``ranking_read.npz`` for parses that :mod:`kg.parsing.reader` has read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kg.arrays import FloatArray, read_arrays
from kg.parsing.evidence import FEATURES
from kg.parsing.parser import Parse
from kg.parsing.reader import READ_FEATURES

FILE, FILE_READ = Path(__file__).with_name("ranking.npz"), Path(__file__).with_name("ranking_read.npz")
MORE_FEATURES = ("share", "log_share", "margin", "after_abstention", "trusted", "read_lead")
"""The features of the confidence besides those of the first parse."""

_NAMES = (*FEATURES, *READ_FEATURES)
_LEAST_SHARE = 1e-6
_LEAST_TRUSTED = 0.02
_MOST_MARGIN = 4.0


@dataclass(frozen=True)
class RankedParse:
    """The best parse of an answer.

    Attributes:
        parse: The parse.
        share: The probability of its answer among all answers, in [0, 1].
    """

    parse: Parse
    share: float


@dataclass(frozen=True)
class FeatureNetwork:
    """A function of features: a linear part, and rectified units of one hidden layer.

    Attributes:
        names: The features; shape ``(features,)``.
        mean: What is taken from each feature; shape ``(features,)``.
        scale: What each is divided by then; shape ``(features,)``.
        linear: The weights of the linear part; shape ``(features,)``.
        bias: Its constant; shape ``()``.
        hidden: The weights of the units; shape ``(features, units)``.
        hidden_bias: Their constants; shape ``(units,)``.
        out: The weight of each unit; shape ``(units,)``.
    """

    names: NDArray[Any]
    mean: FloatArray
    scale: FloatArray
    linear: FloatArray
    bias: FloatArray
    hidden: FloatArray
    hidden_bias: FloatArray
    out: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        """The values of some rows of features; shape ``(rows,)``."""
        scaled = (rows - self.mean) / self.scale
        units = np.maximum(scaled @ self.hidden + self.hidden_bias, 0)
        return np.asarray(scaled @ self.linear + self.bias + units @ self.out, dtype=np.float32)

    def of(self, values: Mapping[str, float]) -> float:
        """The value of features by their names; one that is missing is 0."""
        row = np.array([[values.get(str(name), 0.0) for name in self.names]], dtype=np.float32)
        return float(self(row)[0])

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Its arrays, by their names with a prefix."""
        return {f"{prefix}{one.name}": getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> Self:
        """A network from what :meth:`arrays` gives."""
        return cls(**{one.name: arrays[f"{prefix}{one.name}"] for one in fields(cls)})


@dataclass(frozen=True)
class Ranker:
    """The fitted networks.

    Attributes:
        ranking: Ranks derivations by their evidence.
        confidence: The log-odds that the first answer is right, of the features of :func:`features`.
    """

    ranking: FeatureNetwork
    confidence: FeatureNetwork

    @classmethod
    def shipped(cls, *, read: bool = False) -> Self:
        """The fitted networks, or those for parses that were read."""
        arrays = _shipped(FILE_READ if read else FILE)
        return cls(*(FeatureNetwork.from_arrays(arrays, f"{one.name}_") for one in fields(cls)))

    def scores_of(self, evidence: FloatArray) -> FloatArray:
        """The scores of derivations by their evidence; shape ``(derivations, features)`` gives ``(derivations,)``."""
        return self.ranking(evidence[:, [_NAMES.index(str(name)) for name in self.ranking.names]])

    def scores(self, parses: Sequence[Parse]) -> FloatArray:
        """The score of each derivation; the first has the highest."""
        return self.scores_of(np.array([one.evidence for one in parses], dtype=np.float32).reshape(len(parses), -1))

    def ranked(self, parses: Sequence[Parse]) -> list[RankedParse]:
        """The best parse of each answer, the most probable answer first."""
        if not parses:
            return []
        scores = self.scores(parses)
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        total: dict[object, float] = {}
        best: dict[object, int] = {}
        for place, one in enumerate(parses):
            answer = one.answer
            share, known = float(shares[place]), total.get(answer, 0.0)
            total[answer] = max(known, share) if one.holds is not None else known + share
            if answer not in best or scores[place] > scores[best[answer]]:
                best[answer] = place
        found = [RankedParse(parses[best[answer]], share) for answer, share in total.items()]
        return sorted(found, key=lambda one: (-one.share, one.parse.cost, str(one.parse.query)[:200]))

    def confidence_in(self, values: Mapping[str, float]) -> float:
        """The probability in [0, 1] that a first answer with these features is right; 0 without an answer."""
        if not values:
            return 0.0
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, self.confidence.of(values)))))


def features(ranked: Sequence[RankedParse], *, follows_abstention: bool, trusted: float = 1.0) -> dict[str, float]:
    """The values that the confidence in the first of some answers depends on; empty without one.

    Args:
        ranked: The parses, best first, one for each answer.
        follows_abstention: Whether the turn before has no answer.
        trusted: The confidence, in [0, 1], in the earlier answers that the first depends on.
    """
    if not ranked:
        return {}
    best = ranked[0]
    found = dict(zip(_NAMES, best.parse.evidence, strict=False))
    second = ranked[1].share if len(ranked) > 1 else 0.0
    found["share"] = best.share
    found["log_share"] = math.log(max(best.share, _LEAST_SHARE))
    found["margin"] = min(math.log(max(best.share, _LEAST_SHARE) / max(second, _LEAST_SHARE)), _MOST_MARGIN)
    found["after_abstention"] = float(follows_abstention and found["references"] > 0)
    found["trusted"] = math.log(max(trusted, _LEAST_TRUSTED))
    if "read" in found:
        place = _NAMES.index("read")
        other = max((one.parse.evidence[place] for one in ranked[1:]), default=found["read"] - _MOST_MARGIN)
        found["read_lead"] = max(-_MOST_MARGIN, min(found["read"] - other, _MOST_MARGIN))
    return found


@cache
def _shipped(file: Path) -> dict[str, NDArray[Any]]:
    return read_arrays(file)
