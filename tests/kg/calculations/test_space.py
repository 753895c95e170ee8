"""Derivations as states: which steps there are, and with which probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from kg.arrays import IntArray
from kg.calculations.forms import FormScorer
from kg.calculations.operand_features import read_history
from kg.calculations.report_index import ReportIndex
from kg.calculations.scorer import DerivationScorer
from kg.calculations.space import DerivationSpace, WeightedHistory
from kg.reports.graph import build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from kg.search.derivation import Derivation
from kg.search.history import PastTurn
from kg.search.space import Action, Frontier

REPORT = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 11"), ("margin", "4.5%", "3.5%")), ())
UNTRAINED = DerivationScorer.untrained()
GRAPH = build_report_graph(REPORT, build_ontology([REPORT]))
INDEX = ReportIndex(GRAPH.observations, REPORT.sentences, UNTRAINED.idf)
ITEMS = len(INDEX)
FORMS = ("select(A)", "subtract(A, A)", "multiply(A, C1000)", "divide(R, R)")


def _scorer(names: Sequence[str] = FORMS) -> DerivationScorer:
    weights = np.zeros((1, len(names)), dtype=np.float32)
    return replace(UNTRAINED, forms=FormScorer(names, {"bias": 0}, weights))


def _history(*answers: str | None, log_probability: float = 0.0) -> WeightedHistory:
    past = [
        PastTurn("?", Derivation.parse(answer), Decimal(answer)) if answer else PastTurn("?", None, None)
        for answer in answers
    ]
    return WeightedHistory(read_history(INDEX, past), log_probability)


def _space(*histories: WeightedHistory) -> DerivationSpace:
    turns = len(histories[0].turns)
    return DerivationSpace(INDEX, ["?"] * turns + ["net income in 2009?"], histories, _scorer())


def _frontier(*states: Sequence[int]) -> Frontier:
    choices: IntArray = np.array(states, dtype=np.int64)
    return Frontier(choices, np.zeros(len(states), dtype=np.float32))


def test_forms_come_first_and_share_out_all_probability() -> None:
    expansion = _space(_history("10"), _history("11")).expand(_frontier([0], [1]))
    assert expansion.parent.tolist() == [0] * 4 + [1] * 4
    assert expansion.choice.tolist() == [0, 1, 2, 3] * 2
    assert set(expansion.action.tolist()) == {int(Action.CONTINUE)}
    for state in (0, 1):
        assert np.exp(expansion.log_probability[expansion.parent == state]).sum() == pytest.approx(1)


def test_a_state_answers_with_its_last_operand() -> None:
    space = _space(_history("10"))
    first = space.expand(_frontier([0, 0], [0, 1]))
    assert set(first.action[first.parent == 0].tolist()) == {int(Action.ANSWER)}, "a look-up has one operand"
    assert set(first.action[first.parent == 1].tolist()) == {int(Action.CONTINUE)}
    second = space.expand(_frontier([0, 1, 3]))
    assert set(second.action.tolist()) == {int(Action.ANSWER)}
    assert np.exp(second.log_probability).sum() == pytest.approx(1)


def test_a_form_that_refers_to_earlier_turns_is_a_dead_end_where_there_are_none() -> None:
    expansion = _space(_history()).expand(_frontier([0, 3], [0, 0]))
    assert set(expansion.parent.tolist()) == {1}
    alone = _space(_history()).expand(_frontier([0, 3]))
    assert len(alone.parent) == len(alone.choice) == 0


def test_a_figure_whose_label_shares_words_with_the_question_is_likelier() -> None:
    expansion = _space(_history()).expand(_frontier([0, 0]))
    by_text = dict(zip(INDEX.texts, expansion.log_probability, strict=True))
    assert by_text["10"] > by_text["4.5"]


def test_a_history_goes_on_after_a_failure() -> None:
    after = _history("10", log_probability=-0.5).after_failure()
    assert after.log_probability == -0.5
    assert len(after.turns) == 2
    assert after.turns[-1].derivation is None
    expansion = _space(after).expand(_frontier([0, 0]))
    assert len(expansion.choice) == ITEMS
