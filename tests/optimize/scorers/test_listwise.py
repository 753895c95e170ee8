"""Training of the choice network: its gradients, that it learns, and that it repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kg.calculations.network import ChoiceNetwork
from optimize.scorers.derivations import NetworkChoice, TrainingConfig, train

PLAIN = TrainingConfig(hidden=5, epochs=30, batch=8, rate=0.02, decay=0.0, dropout=0.0)
ROWS, GROUPS, PAIRS = 4, 3, 2


def _preference(count: int, seed: int = 0) -> list[NetworkChoice]:
    """The alternative with the largest first feature is right, the smallest where the group says so."""
    rng = np.random.default_rng(seed)
    choices = []
    for _ in range(count):
        rows = rng.normal(size=(5, ROWS)).astype(np.float32)
        sign = float(rng.choice([-1, 1]))
        right = np.zeros(5, dtype=bool)
        right[int((sign * rows[:, 0]).argmax())] = True
        group = np.array([max(sign, 0.0), max(-sign, 0.0), 1.0], dtype=np.float32)
        choices.append(NetworkChoice(rows, group, right, np.zeros((5, PAIRS), dtype=np.float32)))
    return choices


def _scores(network: ChoiceNetwork, choice: NetworkChoice) -> NDArray[np.float32]:
    group = choice.group[None]
    scores: NDArray[np.float32] = network.scores(choice.rows, group)[0] + choice.pairs @ network.pair_weights(group)[0]
    return scores


def _accuracy(network: ChoiceNetwork, choices: Sequence[NetworkChoice]) -> float:
    return float(np.mean([choice.right[_scores(network, choice).argmax()] for choice in choices]))


def test_a_toy_problem_is_learned_and_holds_for_choices_not_seen() -> None:
    config = replace(PLAIN, hidden=8, epochs=60)
    network = train(_preference(150), config, 0)
    assert _accuracy(network, _preference(150)) > 0.95
    assert _accuracy(network, _preference(100, seed=9)) > 0.9


def test_choices_with_more_weight_win() -> None:
    rows = np.eye(2, ROWS, dtype=np.float32)
    group, pairs = np.ones(GROUPS, dtype=np.float32), np.zeros((2, PAIRS), dtype=np.float32)
    light = NetworkChoice(rows, group, np.array([True, False]), pairs, weight=0.2)
    heavy = replace(light, right=np.array([False, True]), weight=2.0)
    assert _scores(train([light, light, heavy], PLAIN, 0), light).argmax() == 1
