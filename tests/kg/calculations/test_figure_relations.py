"""How figures of a report lie to each other."""

from __future__ import annotations

import numpy as np

from kg.calculations.figure_relations import PAIR_FEATURES, pair_features
from tests.kg.calculations.pages import INDEX, observation


def test_pairs_know_row_column_year_and_absence() -> None:
    of = {text: observation(text) for text in ("10", "11", "12", "4.5", "5")}
    first = np.full(6, of["10"])
    second = np.array([of["11"], of["12"], of["4.5"], of["5"], of["10"], -1])
    features = pair_features(INDEX, first, second)
    assert features.shape == (6, PAIR_FEATURES)
    assert len({tuple(row) for row in features}) == 6
    backwards = pair_features(INDEX, second[:1], first[:1])
    assert not np.array_equal(backwards[0], features[0]), "the order matters"
