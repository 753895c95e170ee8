"""The network that scores alternatives."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kg.calculations.network import ChoiceNetwork


def _network(rows: int = 3, groups: int = 2, hidden: int = 4, pairs: int = 2) -> ChoiceNetwork:
    rng = np.random.default_rng(0)
    shapes = {
        "rows_in": (rows, hidden),
        "group_in": (groups, hidden),
        "bias": (hidden,),
        "out": (hidden,),
        "skip": (rows,),
        "pairs": (groups, pairs),
    }
    return ChoiceNetwork(**{name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()})


def test_the_scores_are_what_the_formula_says() -> None:
    network = _network()
    rng = np.random.default_rng(1)
    rows, groups = rng.normal(size=(5, 3)).astype(np.float32), rng.normal(size=(2, 2)).astype(np.float32)
    scores = network.scores(rows, groups)
    assert scores.shape == (2, 5)
    for g in range(2):
        for r in range(5):
            hidden = [
                max(0.0, float(rows[r] @ network.rows_in[:, h] + groups[g] @ network.group_in[:, h] + network.bias[h]))
                for h in range(4)
            ]
            expected = sum(h * float(v) for h, v in zip(hidden, network.out, strict=True)) + rows[r] @ network.skip
            assert scores[g, r] == pytest.approx(expected, abs=1e-5)
    assert network.pair_weights(groups) == pytest.approx(groups @ network.pairs)


@pytest.mark.parametrize("hidden", [0, 4])
def test_written_weights_are_read_back_and_written_alike(hidden: int) -> None:
    network = _network(hidden=hidden)
    written = json.loads(json.dumps(network.to_dict()))
    again = ChoiceNetwork.from_dict(written)
    assert again.to_dict() == written
    assert again.rows_in.shape == (3, hidden)
    assert again.skip == pytest.approx(network.skip, rel=1e-3)
