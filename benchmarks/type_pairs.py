"""Fits the probability that two types mean the same, and estimates it by cross-validation.

    python benchmarks/type_pairs.py

The pairs (the archive ``tasks``) were written for finpath, about everyday subjects and not about the
types that ship with it: half of them mean the same, the others only belong to the same subject. The last line has the
weights of ``kg/growing/proposals.py``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from question_sets import unpacked  # noqa: E402

from experiments.saved import shipped_meaning  # noqa: E402
from kg.growing import SAME_MEANING, spelled  # noqa: E402

PAIRS = unpacked("tasks") / "type_pairs" / "pairs.tsv"
PARTS = 7
PENALTY = 0.3


@dataclass(frozen=True)
class Pair:
    first: str
    first_description: str
    second: str
    second_description: str
    same: bool


def pairs() -> list[Pair]:
    rows = [line.split("\t") for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    return [Pair(*row[:4], same=row[4] == "same") for row in rows]


def features(found: list[Pair]) -> np.ndarray:
    meaning = shipped_meaning()
    rows = []
    for one in found:
        names = spelled(one.first), spelled(one.second)
        described = [f"{names[0]}: {one.first_description}", f"{names[1]}: {one.second_description}"]
        first, second = meaning.vectors(described)
        one_name, other_name = meaning.vectors(names)
        rows.append([float(one_name @ other_name), float(first @ second)])
    return np.array(rows)


def fit(values: np.ndarray, same: np.ndarray) -> np.ndarray:
    """Returns the intercept and the weights of a logistic model with an L2 penalty on standardised features."""
    mean, spread = values.mean(0), values.std(0)
    scaled = np.c_[np.ones(len(values)), (values - mean) / spread]

    def loss(weights: np.ndarray) -> float:
        return np.logaddexp(0, -(2 * same - 1) * (scaled @ weights)).sum() + PENALTY * (weights[1:] ** 2).sum()

    weights = minimize(loss, np.zeros(scaled.shape[1])).x
    slopes = weights[1:] / spread
    return np.r_[weights[0] - (slopes * mean).sum(), slopes]


def probability(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(weights[0] + values @ weights[1:])))


def main() -> None:
    found = pairs()
    values, same = features(found), np.array([one.same for one in found], dtype=float)
    order = np.random.default_rng(0).permutation(len(found))
    held_out = np.zeros(len(found))
    for part in range(PARTS):
        test = order[part::PARTS]
        train = np.setdiff1d(order, test)
        held_out[test] = probability(fit(values[train], same[train]), values[test])
    taken = held_out >= SAME_MEANING
    right, precision, recall = (taken == same).mean(), same[taken].mean(), taken[same == 1].mean()
    print(f"{len(found)} pairs, {PARTS} parts: right {right:.1%}, precision {precision:.1%}, recall {recall:.1%}")
    print("weights", fit(values, same).round(2).tolist())


if __name__ == "__main__":
    main()
