"""Fits the probability that two types mean the same, and estimates it by cross-validation.

    python benchmarks/type_pairs.py

The pairs (the archive ``tasks``) were written for finpath, about everyday subjects and not about the
types that ship with it: half of them mean the same, the others only belong to the same subject. The last line has the
weights of ``kg/growing/proposals.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from question_sets import unpacked

from experiments.readers import shipped_meaning
from kg.growing import SAME_MEANING, spelled
from optimize.fitting import fit_logistic

PAIRS = unpacked("tasks") / "type_pairs" / "pairs.tsv"
PARTS = 7
PENALTY = 0.3


def features(rows: Sequence[Sequence[str]]) -> np.ndarray:
    """Returns the similarities of names and of described names, shape ``(pairs, 2)``."""
    meaning, similarities = shipped_meaning(), []
    for first, first_description, second, second_description, _ in rows:
        names = spelled(first), spelled(second)
        described = meaning.vectors([f"{names[0]}: {first_description}", f"{names[1]}: {second_description}"])
        bare = meaning.vectors(names)
        similarities.append([float(bare[0] @ bare[1]), float(described[0] @ described[1])])
    return np.array(similarities)


def fit(values: np.ndarray, same: np.ndarray) -> np.ndarray:
    """Returns the intercept and the weights of a logistic model with an L2 penalty on standardised features."""
    mean, spread = values.mean(0), values.std(0)
    scaled = np.c_[np.ones(len(values)), (values - mean) / spread]
    weights = fit_logistic(scaled, same, penalty=[0.0, PENALTY, PENALTY])
    slopes = weights[1:] / spread
    return np.r_[weights[0] - (slopes * mean).sum(), slopes]


def main() -> None:
    """Prints the estimate and the weights."""
    rows = [line.split("\t") for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    values, same = features(rows), np.array([row[4] == "same" for row in rows])
    order = np.random.default_rng(0).permutation(len(rows))
    held_out = np.zeros(len(rows))
    for test in (order[part::PARTS] for part in range(PARTS)):
        train = np.setdiff1d(order, test)
        weights = fit(values[train], same[train])
        held_out[test] = 1 / (1 + np.exp(-(weights[0] + values[test] @ weights[1:])))
    taken = held_out >= SAME_MEANING
    right, precision, recall = (taken == same).mean(), same[taken].mean(), taken[same].mean()
    print(f"{len(rows)} pairs, {PARTS} parts: right {right:.1%}, precision {precision:.1%}, recall {recall:.1%}")
    print("weights", fit(values, same).round(2).tolist())


if __name__ == "__main__":
    main()
