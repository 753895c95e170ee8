"""The fit of the model that decides whether a question stands alone."""

from __future__ import annotations

from dataclasses import replace

from kg.calculations import standalone_features
from optimize.scorers import TrainingTurn, fit_standalone, training_turns
from tests.optimize.scorers.changes import UNKNOWN, report_index

INDEX = report_index()


def _conversation(year: int) -> list[TrainingTurn]:
    questions = [f"what was net income in {year}?", "and the year before?", "what was the change?"]
    return training_turns("r", INDEX, questions, ["10", "12", "subtract(10, 12)"])


TURNS = [turn for year in range(1990, 2020) for turn in _conversation(year)]


def test_first_questions_stand_alone_and_later_ones_do_not() -> None:
    model = fit_standalone(TURNS)
    assert model is not None
    assert model.probability(standalone_features(INDEX, "what was net income in 2031?")) > 0.9
    assert model.probability(standalone_features(INDEX, "and the year before?")) < 0.1


def test_nothing_is_fitted_without_both_kinds_or_without_reports() -> None:
    assert fit_standalone(TURNS[:1]) is None
    assert fit_standalone([turn for turn in TURNS if turn.history]) is None
    assert fit_standalone([replace(turn, index=UNKNOWN) for turn in TURNS]) is None
    assert fit_standalone([]) is None
