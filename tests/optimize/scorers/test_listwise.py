"""Training of the choice network: its gradients, that it learns, and that it repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from kg.calculations.network import ChoiceNetwork
from optimize.scorers.derivations import NetworkChoice, TrainingConfig, _gradients, _initial, train

PLAIN = TrainingConfig(hidden=5, epochs=30, batch=8, rate=0.02, decay=0.0, dropout=0.0)
ROWS, GROUPS, PAIRS = 4, 3, 2


def _random_choices(count: int, seed: int = 0, dtype: type = np.float32) -> list[NetworkChoice]:
    rng = np.random.default_rng(seed)
    choices = []
    for _ in range(count):
        size = int(rng.integers(2, 7))
        right = np.zeros(size, dtype=bool)
        right[rng.choice(size, int(rng.integers(1, size)), replace=False)] = True
        choices.append(
            NetworkChoice(
                rows=rng.normal(size=(size, ROWS)).astype(dtype),
                group=rng.normal(size=GROUPS).astype(dtype),
                right=right,
                pairs=rng.normal(size=(size, PAIRS)).astype(dtype),
                weight=float(rng.uniform(0.5, 2.0)),
            )
        )
    return choices


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


@pytest.mark.parametrize("name", [field.name for field in fields(ChoiceNetwork)])
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    batch = _random_choices(6, dtype=np.float64)
    rng = np.random.default_rng(1)
    weights = {key: rng.normal(size=array.shape) for key, array in _initial(batch[0], 5, rng).items()}

    def loss() -> float:
        return _gradients(weights, batch, PLAIN, rng)[0] / len(batch)  # type: ignore[arg-type]

    gradients = _gradients(weights, batch, PLAIN, rng)[1][name]  # type: ignore[arg-type]
    assert gradients.shape == weights[name].shape
    differences = np.zeros_like(weights[name])
    for place in np.ndindex(weights[name].shape):
        kept = weights[name][place]
        weights[name][place] = kept + 1e-6
        above = loss()
        weights[name][place] = kept - 1e-6
        differences[place] = (above - loss()) / 2e-6
        weights[name][place] = kept
    assert np.abs(differences).max() > 1e-3
    assert gradients == pytest.approx(differences, rel=1e-3, abs=1e-5)


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


START = np.array([2.0, -1.0, 0.0, 0.5], dtype=np.float32)


def test_decay_pulls_towards_the_start() -> None:
    """Where every alternative is right there is nothing to learn: the weights move by the decay alone."""
    indifferent = [replace(choice, right=np.ones_like(choice.right)) for choice in _random_choices(20)]
    kept = START.copy()
    network = train(indifferent, replace(PLAIN, decay=0.5), 0, start=START)
    assert network.skip == pytest.approx(START, abs=1e-3)
    assert np.abs(network.out).max() < 0.05
    assert np.array_equal(START, kept), "it is not written to"
    held = train(_preference(60), replace(PLAIN, decay=20.0), 0, start=START)
    assert held.skip == pytest.approx(START, abs=0.1), "a strong decay leaves it where it began"
