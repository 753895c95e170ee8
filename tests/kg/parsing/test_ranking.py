"""The networks that rank parses and give the confidence in the first."""

import numpy as np
import pytest

from kg.algebra import NamedNodes
from kg.parsing import FEATURES, FeatureNetwork, Parse, Ranker, features


def _network() -> FeatureNetwork:
    """Gives twice the first feature in units of its scale, 1, and how far the second is above 3."""
    return FeatureNetwork(
        np.array(["cost", "names"]),
        mean=np.array([1.0, 0.0], np.float32),
        scale=np.array([2.0, 1.0], np.float32),
        linear=np.array([2.0, 0.0], np.float32),
        bias=np.float32(1),
        hidden=np.array([[0.0], [1.0]], np.float32),
        hidden_bias=np.array([-3.0], np.float32),
        out=np.array([1.0], np.float32),
    )


def test_a_network_is_read_as_it_was_written() -> None:
    again = FeatureNetwork.from_arrays(_network().arrays("x_"), "x_")
    assert again.of({"cost": 3.0, "names": 5.0}) == 5.0
    with pytest.raises(KeyError):
        FeatureNetwork.from_arrays(_network().arrays("x_"), "y_")


def test_trust_and_a_missing_answer_count_in_the_right_direction() -> None:
    plain = (0.0,) * len(FEATURES)
    ranked = Ranker.shipped().ranked([Parse(NamedNodes((node,)), 0.0, (node,), evidence=plain) for node in range(2)])
    assert [one.share for one in ranked] == [0.5, 0.5]
    ranker = Ranker.shipped()
    sure, unsure = (ranker.confidence_in(features(ranked, follows_abstention=False, trusted=own)) for own in (1.0, 0.3))
    assert 0 < unsure < sure < 1
    assert ranker.confidence_in({}) == 0
