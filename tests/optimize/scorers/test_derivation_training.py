"""The parts of the scorer's fit: the ranker, operands, forms and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from kg.calculations.report_index import Idf
from kg.calculations.scorer import JOINT_WIDTH, DerivationScorer
from kg.calculations.turn_search import DerivationConfig
from kg.errors import DataError
from optimize.scorers import derivations as scorer_training
from optimize.scorers.derivations import TrainingTurn, fit_ranker, fit_scorer, ranking_choice, training_turns
from tests.optimize.scorers.changes import PROGRAMS, QUESTIONS, TINY, UNKNOWN, report_index


def test_the_ranker_never_learns_from_candidates_of_a_search_that_knew_their_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[str, frozenset[str]]] = []
    last: list[frozenset[str]] = []

    def fit(turns: Sequence[TrainingTurn], *_: object) -> DerivationScorer:
        last.append(frozenset(turn.group for turn in turns))
        return DerivationScorer.untrained()

    def choose(turn: TrainingTurn, *_: object) -> None:
        seen.append((turn.group, last[-1]))

    monkeypatch.setattr(scorer_training, "_without_ranker", fit)
    monkeypatch.setattr(scorer_training, "ranking_choice", choose)
    index = report_index()
    turns = [turn for name in "abcde" for turn in training_turns(name, index, QUESTIONS, PROGRAMS)]
    turns += training_turns("a dialogue", UNKNOWN, QUESTIONS, PROGRAMS)
    assert fit_ranker(turns, Idf({}, 1.0), replace(TINY, folds=3), 0, lambda _: None) is None
    assert sorted(group for group, _ in seen) == [group for group in "abcde" for _ in QUESTIONS], "each turn once"
    assert all(group not in inside for group, inside in seen)
    assert all("a dialogue" in inside for inside in last)
    assert len(last) == 3


def test_a_turn_s_candidates_are_right_where_their_answer_is() -> None:
    scorer, beam = DerivationScorer.untrained(), DerivationConfig(beam_width=50)
    *_, change, _ = training_turns("r", report_index(), QUESTIONS, PROGRAMS)
    choice = ranking_choice(change, scorer, beam)
    assert choice is not None
    assert choice.rows.shape == (len(choice.right), JOINT_WIDTH)
    assert choice.right.any()
    assert not choice.right.all()
    assert (choice.pairs.shape, choice.weight) == ((len(choice.right), 0), 1.0)
    assert ranking_choice(replace(change, answer=Decimal("123456")), scorer, beam) is None, "none is right"
    assert ranking_choice(replace(change, answer="yes"), scorer, beam) is None, "no verdict is proposed"
    assert ranking_choice(replace(change, index=UNKNOWN), scorer, beam) is None


@pytest.mark.parametrize("program", ["77", "nonsense("])
def test_nothing_to_learn_from_is_refused(program: str) -> None:
    turns = training_turns("r", report_index(), QUESTIONS[:1], [program])
    with pytest.raises(DataError) as caught:
        fit_scorer(turns, Idf({}, 1.0), TINY, seed=0)
    message = "no training turn looks up a figure that its report's graph holds: nothing can be fitted"
    assert str(caught.value) == message
