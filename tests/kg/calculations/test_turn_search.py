"""The search for one question, and the histories that it hands to the next."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg.calculations.report_index import ReportIndex
from kg.calculations.scorer import DerivationScorer
from kg.calculations.turn_search import MEMORY, START, DerivationConfig, TurnSearch, fixed_history, search_turn
from kg.logistic import LogisticModel
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from kg.search.derivation import Derivation
from kg.search.history import PastTurn
from tests.kg.calculations.pages import report_index

REPORT = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4.5%", "3.5%")), ())
UNTRAINED = DerivationScorer.untrained()
ONTOLOGY = build_ontology([REPORT])
INDEX = report_index(REPORT)
EMPTY = ReportIndex([], [], UNTRAINED.idf)
CONFIG = DerivationConfig(beam_width=20, output_top_k=20, histories=4)
QUESTIONS = ["what was net income in 2009?", "and in 2008?", "what is the change?", "and in percent?"]


def _search(count: int = 1, histories: object = START, config: DerivationConfig = CONFIG) -> TurnSearch:
    return search_turn(INDEX, QUESTIONS[:count], histories, UNTRAINED, config)  # type: ignore[arg-type]


def test_the_probabilities_of_kept_histories_sum_to_one() -> None:
    histories = START
    for count in range(1, 4):
        found = _search(count, histories)
        histories = found.next_histories(4)
        assert 1 <= len(histories) <= 4
        assert sum(np.exp(history.log_probability) for history in histories) == pytest.approx(1, abs=1e-4)
        assert all(len(history.turns) == count for history in histories)
        weights = [history.log_probability for history in histories]
        assert all(first >= second for first, second in pairwise(weights))


def test_a_question_that_stands_alone_is_read_alone_and_extends_the_earlier_turns() -> None:
    standalone = LogisticModel({"word:net": 1.0, "word:and": -1.0})
    scorer = DerivationScorer.from_json(replace(UNTRAINED, standalone=standalone).to_json())
    first = search_turn(INDEX, QUESTIONS[:1], START, scorer, CONFIG)
    second = search_turn(INDEX, QUESTIONS[:2], first.next_histories(4), scorer, CONFIG)
    histories = second.next_histories(4)
    assert second.earlier is None
    third = search_turn(INDEX, [*QUESTIONS[:2], QUESTIONS[0]], histories, scorer, CONFIG)
    assert third.earlier == histories
    assert third.candidates == first.candidates
    after = third.next_histories(4)
    assert [len(history.turns) for history in after] == [3] * 4
    assert {history.turns[:2] for history in after} <= {history.turns for history in histories}
    assert sum(np.exp(history.log_probability) for history in after) == pytest.approx(1, abs=1e-4)


def test_an_empty_beam_is_an_empty_result_and_the_histories_go_on() -> None:
    found = search_turn(EMPTY, QUESTIONS[:1], START, UNTRAINED, CONFIG)
    assert found.candidates == ()
    after = found.next_histories(4)
    assert [len(history.turns) for history in after] == [1]
    again = search_turn(EMPTY, QUESTIONS[:2], after, UNTRAINED, CONFIG)
    assert again.candidates == ()


def test_a_history_that_is_given_is_taken_as_certain() -> None:
    past = [PastTurn(QUESTIONS[0], Derivation.parse("10"), Decimal(10)), PastTurn(QUESTIONS[1], None, None)]
    (history,) = fixed_history(INDEX, past)
    assert history.log_probability == 0.0
    assert [turn.derivation for turn in history.turns] == [past[0].derivation, None]
    found = _search(3, (history,))
    assert found.candidates
    assert all(len(kept.turns) == 3 for kept in found.next_histories(4))


_CELLS = st.one_of(
    st.sampled_from(["", "n/a", "0", "$ 5", "-26 ( 26 )", "4.5%", "2014", "1,234.5", "( 0.3 )", "9" * 20, "12/31/04"]),
    st.text(alphabet="0123456789 $%().,-ab", max_size=8),
)
_SENTENCES = st.lists(_CELLS, max_size=4).map(" and ".join)


@st.composite
def _reports(draw: st.DrawFn) -> Report:
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    table = tuple(tuple(draw(_CELLS) for _ in range(columns)) for _ in range(rows))
    return Report("r", tuple(draw(st.lists(_SENTENCES, max_size=2))), table, ())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_reports(), st.lists(st.sampled_from(["$ 5 in 2014?", "and the change?", "a b", ""]), min_size=2, max_size=3))
def test_any_report_is_searched_turn_after_turn(report: Report, questions: list[str]) -> None:
    index = report_index(report, ONTOLOGY)
    known = set(index.texts)
    histories = START
    for count in range(1, len(questions) + 1):
        found = search_turn(index, questions[:count], histories, UNTRAINED, CONFIG)
        assert bool(found.candidates) == bool(len(index))
        for candidate in found.candidates:
            assert candidate.score <= 0
            assert {number.text for number in candidate.derivation.numbers} <= known
            assert len(candidate.sources) == len(candidate.derivation.numbers)
            assert candidate.derivation.execute() == candidate.answer
        histories = found.next_histories(CONFIG.histories)
        assert sum(np.exp(history.log_probability) for history in histories) == pytest.approx(1, abs=1e-3)


def test_the_cost_of_a_turn_does_not_grow_with_the_conversation() -> None:
    """What is searched is the same after a hundred turns as after the number that is remembered."""
    histories = START
    questions: list[str] = []
    sizes = []
    for number in range(MEMORY + 6):
        questions.append(QUESTIONS[number % 4])
        found = search_turn(INDEX, questions, histories, UNTRAINED, DerivationConfig(beam_width=4, histories=1))
        histories = found.next_histories(1)
        sizes.append((len(found.space.question.questions), len(found.space.histories[0].turns)))
    assert sizes[MEMORY - 1] == (MEMORY, MEMORY - 1)
    assert set(sizes[MEMORY:]) == {(MEMORY + 1, MEMORY)}
