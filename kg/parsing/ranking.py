"""The ranking of a question's parses, and the confidence in the first: log-linear functions of their evidence.

    >>> ranked = Ranker.shipped().ranked(parses)
    >>> ranked[0].parse.answer, ranked[0].share
    (frozenset({17}), 0.93)

Derivations with the same answer support each other: an answer's share is the sum of theirs. Yes and no are the answers
of too many derivations for that, so the best decides. The confidence says how probable it is that the first answer is
right, as none may be. ``benchmarks/fit_parses.py`` fits the weights of ``ranking.json`` on questions about graphs of
many authors, and those of ``ranking_read.json`` for parses that :mod:`kg.parsing.reader` has read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Self

import numpy as np

from kg.arrays import FloatArray
from kg.parsing.evidence import FEATURES
from kg.parsing.parser import Parse
from kg.parsing.reader import READ_FEATURES

FILE, FILE_READ = Path(__file__).with_name("ranking.json"), Path(__file__).with_name("ranking_read.json")
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
class Ranker:
    """Weights of features.

    Attributes:
        ranking: The weight of each feature for the rank of a derivation; features without one count nothing.
        bias: The constant of the confidence.
        confidence: The weight of each feature of :func:`features` for the confidence.
    """

    ranking: Mapping[str, float]
    bias: float
    confidence: Mapping[str, float]

    @classmethod
    def shipped(cls, *, read: bool = False) -> Self:
        """The fitted weights, or those for parses that were read."""
        return cls.from_json(_shipped(FILE_READ if read else FILE))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The weights of a file that the fit wrote."""
        stored = json.loads(text)
        return cls(stored["ranking"], float(stored["bias"]), stored["confidence"])

    @cached_property
    def _weights(self) -> FloatArray:
        return np.array([self.ranking.get(name, 0.0) for name in _NAMES], dtype=np.float32)

    def scores(self, parses: Sequence[Parse]) -> FloatArray:
        """The score of each derivation; the first has the highest."""
        evidence = np.array([one.evidence for one in parses], dtype=np.float32).reshape(len(parses), -1)
        return evidence @ self._weights[: evidence.shape[1]]

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
        total = self.bias + sum(self.confidence.get(name, 0.0) * value for name, value in values.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


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
def _shipped(file: Path) -> str:
    return file.read_text(encoding="utf-8")
