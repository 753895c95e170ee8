"""Weights of evidence: nothing for noise, much for what is always right, and probabilities that can be trusted."""

from __future__ import annotations

import numpy as np
import pytest

from kg.errors import DataError
from optimize.evidence.weights import JudgedTurn, choose_blend, fit_blend, improves
from programs.evidence.blend import Blend, Evidence

SCORES = tuple(np.log([0.4, 0.3, 0.15]))


def _turns(knows: float, count: int = 180, seed: int = 0) -> list[JudgedTurn]:
    """Turns whose beam is calibrated, and a model that knows the right candidate in a share of them."""
    rng = np.random.default_rng(seed)
    turns = []
    for number in range(count):
        place = int(rng.choice(4, p=[0.4, 0.3, 0.15, 0.15]))
        right = tuple(one == place for one in range(3))
        said = place if rng.random() < knows and place < 3 else int(rng.integers(3))
        shares = tuple(np.log(0.8 if one == said else 0.1) for one in range(3))
        likelihoods = tuple(-1.0 if one == said else -4.0 for one in range(3))
        turns.append(
            JudgedTurn(f"report {number // 3}", SCORES, (1, 3, 5), right, Evidence("likelihood", shares, likelihoods))
        )
    return turns


def test_a_model_that_knows_overrules_the_beam() -> None:
    found = choose_blend(_turns(knows=1.0), seed=0, folds=3)
    assert found.accuracy > 0.7
    assert found.beam_accuracy == pytest.approx(0.4, abs=0.08)
    assert found.blend.uses_evidence


def test_a_model_that_guesses_changes_next_to_nothing() -> None:
    found = choose_blend(_turns(knows=0.0), seed=0, folds=3)
    assert found.accuracy >= found.beam_accuracy - 0.06
    assert max(abs(found.blend.weights.get(name, 0.0)) for name in ("share", "first", "likelihood")) < 0.35
    judged = [found.blend.judge(turn.scores, turn.lengths, turn.evidence) for turn in _turns(knows=0.0, seed=1)]
    assert np.mean([one.pick == 0 for one in judged]) > 0.6


def test_the_more_a_model_knows_the_more_its_word_weighs() -> None:
    weights = [fit_blend(_turns(knows), ("first",), 1.0).weights["first"] for knows in (0.0, 0.3, 0.6, 0.9)]
    assert weights == sorted(weights)
    assert weights[-1] > weights[0] + 1


def test_a_strong_pull_leaves_the_beam_alone() -> None:
    blend = fit_blend(_turns(knows=1.0), ("share", "first"), 1e7)
    assert blend.weights["beam"] == pytest.approx(Blend().weights["beam"], abs=0.01)
    assert blend.weights["share"] == pytest.approx(0, abs=0.01)


def test_what_is_fitted_is_as_sure_as_it_is_right() -> None:
    found = choose_blend(_turns(knows=0.6, count=360), seed=0, folds=3)
    assert np.mean(found.confidences) == pytest.approx(found.accuracy, abs=0.05)


def test_without_evidence_only_the_beam_and_lengths_are_weighed() -> None:
    blend = choose_blend(_turns(knows=1.0), seed=0, with_evidence=False, folds=3).blend
    assert not blend.uses_evidence
    assert set(blend.none) <= {"bias", "rest"}


def test_turns_of_one_report_cannot_be_cross_validated() -> None:
    with pytest.raises(DataError, match="at least two reports"):
        choose_blend(_turns(1.0)[:2], seed=0)


@pytest.mark.parametrize(("better", "worse", "helps"), [(9, 8, False), (0, 0, False), (17, 8, True)])
def test_a_gain_within_chance_is_none(better: int, worse: int, helps: bool) -> None:
    same = 200 - better - worse
    before, after = [False] * better + [True] * (worse + same), [True] * better + [False] * worse + [True] * same
    assert improves(before, after) is helps
