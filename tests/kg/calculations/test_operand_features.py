"""What the scorers see of operands in a conversation; not how it is laid out is tested, but what it tells apart."""

from __future__ import annotations

import numpy as np
import pytest

from kg.calculations.figure_relations import FigureRelations
from kg.calculations.operand_features import (
    candidate_items,
    history_item_features,
    read_history,
)
from kg.calculations.question_features import QuestionFeatures
from kg.search.derivation import Derivation
from kg.search.history import PastTurn
from tests.kg.calculations.pages import EMPTY, INDEX, item, observation


def _past(*turns: tuple[str, str | None]) -> list[PastTurn]:
    derivations = [(question, Derivation.parse(program) if program else None) for question, program in turns]
    return [PastTurn(question, one, one.execute() if one else None) for question, one in derivations]


def test_a_history_says_which_figures_each_turn_brought_in() -> None:
    past = _past(("income in 2009?", "10"), ("and 2008?", "11"), ("the change?", "subtract(10, 11)"))
    first, second, change = read_history(INDEX, past)
    assert (first.form.form, change.form.form) == ("select(A)", "subtract(R, R)")
    assert (first.value, second.value, change.value) == (10.0, 11.0, -1.0)
    assert change.figures == (), "both were there before"
    assert change.all_figures == (observation("10"), observation("11"))
    assert second.figures == (observation("11"),)


def test_neighbours_of_the_last_figure_stand_out() -> None:
    features = history_item_features(FigureRelations(INDEX), read_history(INDEX, _past(("income in 2009?", "10"))))
    assert features.shape[0] == len(INDEX)
    rows = {text: tuple(features[item(text)]) for text in ("10", "11", "12", "4.5", "5")}
    assert len(set(rows.values())) == len(rows)
    assert not history_item_features(FigureRelations(INDEX), ())[:, :-2].any()


def test_operands_are_the_items_and_then_the_earlier_answers() -> None:
    question = QuestionFeatures(INDEX, ["a?", "b?"])
    features, observations = candidate_items(question, read_history(INDEX, _past(("a?", "11"))))
    assert features.shape[0] == len(INDEX) + 1 == len(observations)
    assert observations[-1] == observation("11")
    assert candidate_items(question, read_history(INDEX, _past(("a?", None))))[1][-1] == -1


@pytest.mark.parametrize("questions", [["what?"], ["", ""], ["a?", "b in 2008?", "?", "and 4%?"]])
def test_any_question_about_any_report_has_finite_features_of_one_width(questions: list[str]) -> None:
    widths = set()
    for index in (INDEX, EMPTY):
        past = [PastTurn(question, None, None) for question in questions[:-1]]
        features, _ = candidate_items(QuestionFeatures(index, questions), read_history(index, past))
        assert np.isfinite(features).all()
        widths.add(features.shape[1])
    assert len(widths) == 1
