"""What the scorers see of operands in a conversation; not how it is laid out is tested, but what it tells apart."""

from __future__ import annotations

import numpy as np
import pytest

from kg.calculations.operand_features import (
    candidate_items,
    read_history,
)
from kg.calculations.question_features import QuestionFeatures
from kg.search.derivation import Derivation
from kg.search.history import PastTurn
from tests.kg.calculations.pages import EMPTY, INDEX, observation


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


@pytest.mark.parametrize("questions", [["what?"], ["", ""], ["a?", "b in 2008?", "?", "and 4%?"]])
def test_any_question_about_any_report_has_finite_features_of_one_width(questions: list[str]) -> None:
    widths = set()
    for index in (INDEX, EMPTY):
        past = [PastTurn(question, None, None) for question in questions[:-1]]
        features, _ = candidate_items(QuestionFeatures(index, questions), read_history(index, past))
        assert np.isfinite(features).all()
        widths.add(features.shape[1])
    assert len(widths) == 1
