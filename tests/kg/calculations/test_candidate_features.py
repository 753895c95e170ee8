"""What is seen of a whole candidate, on a report of a few figures that is made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from numpy.typing import NDArray

from kg.calculations.candidate_features import joint_features
from kg.calculations.forms import FormScorer
from kg.calculations.idf import Idf
from kg.calculations.network import ChoiceNetwork
from kg.calculations.operand_features import JOINT_NAMES, read_history
from kg.calculations.ranking import ABSENT
from kg.calculations.report_index import ReportIndex
from kg.calculations.scorer import JOINT_WIDTH, ROLE_WIDTH, DerivationScorer, feature_widths
from kg.calculations.space import DerivationSpace, WeightedHistory
from kg.calculations.turn_search import DerivationConfig, fixed_history, search_turn
from kg.reports.observation import CellSource, Observation, SentenceSource, Source
from kg.search.derivation import Derivation
from kg.search.history import PastTurn
from kg.text.quantities import Quantity

CONSTANT = -1
SENTENCE = "rents abroad were $ 5 million in 2009 ."
FORMS = (
    "select(A)",
    "select(R)",
    "subtract(A, A)",
    "subtract(A, R)",
    "subtract(R, A)",
    "subtract(R, R)",
    "divide(A, A)",
    "divide(A, C1000)",
    "multiply(A, C1000)",
    "divide(R, C1000)",
    "greater(A, A)",
)
Row = tuple[str, int, int]


def _figure(name: str, text: str, label: str, period: str, scale: int, source: Source) -> Observation:
    quantity = Quantity(Decimal(text), "currency", scale, text, 0, len(text))
    column = period if isinstance(source, CellSource) else ""
    section = "parent" if isinstance(source, CellSource) else ""
    return Observation(name, "", "", "", label, column, section, period, quantity, source)


FIGURES = (
    _figure("now", "10", "net income", "2009", 1000, CellSource(1, 1, 0, 2)),
    _figure("before", "8", "net income", "2008", 1000, CellSource(1, 2, 0, 1)),
    _figure("assets", "40", "total assets", "2009", 1000, CellSource(2, 1, 0, 2)),
    _figure("rents", "5", "rents", "2009", 1000000, SentenceSource(0, 21, 22)),
)
INDEX = ReportIndex(FIGURES, [SENTENCE], Idf({}, 1.0))
NOW, BEFORE, ASSETS, RENTS = range(4)
FIRST_ANSWER, SECOND_ANSWER = len(INDEX), len(INDEX) + 1  # after the figures and the return on assets


def _scorer(names: Sequence[str] = FORMS) -> DerivationScorer:
    weights = np.arange(len(names), dtype=np.float32)[None] / 10
    return replace(DerivationScorer.untrained(), forms=FormScorer(names, {"bias": 0}, weights))


def _past(*turns: tuple[str, str]) -> list[PastTurn]:
    derivations = [(question, Derivation.parse(program)) for question, program in turns]
    return [PastTurn(question, one, one.execute()) for question, one in derivations]


def _space(questions: Sequence[str], *histories: Sequence[tuple[str, str]]) -> DerivationSpace:
    weighted = [
        WeightedHistory(read_history(INDEX, _past(*turns)), float(np.log(1 / (place + 2))))
        for place, turns in enumerate(histories or [()])
    ]
    return DerivationSpace(INDEX, questions, weighted, _scorer())


def _states(rows: Sequence[Row], history: int = 0) -> NDArray[np.int64]:
    return np.array([[history, FORMS.index(form), first, second] for form, first, second in rows], dtype=np.int64)


def _rows(space: DerivationSpace, states: NDArray[np.int64], values: Sequence[float] = ()) -> NDArray[np.float32]:
    count = len(states)
    results = np.array(values) if values else np.full(count, 7.5)
    return joint_features(space, states, np.full(count, -2.0, dtype=np.float32), results, np.full(count, -2.0))


def _column(name: str, features: NDArray[np.float32]) -> list[float]:
    column: list[float] = features[:, JOINT_NAMES.index(name)].tolist()
    return column


CHANGES: list[Row] = [("subtract(A, A)", NOW, BEFORE)] * 3
PARTS: list[Row] = [("divide(A, A)", NOW, ASSETS)] * 3 + CHANGES[:1]
LOOK_UPS: list[Row] = [("select(A)", NOW, ABSENT), ("select(A)", BEFORE, ABSENT), ("select(A)", RENTS, ABSENT)]
PAIRS: list[Row] = [("subtract(A, A)", NOW, BEFORE), ("subtract(A, A)", NOW, ASSETS), ("subtract(A, A)", NOW, NOW)]


@pytest.mark.parametrize(
    ("question", "rows", "values", "expected"),
    [
        ("the increase?", CHANGES, [2, -2, 0], {"direction_fits": [1, 0, 0], "direction_differs": [0, 1, 1]}),
        ("how much has it decreased?", CHANGES, [2, -2, 0], {"direction_fits": [0, 1, 1]}),
        ("the increase or decrease?", CHANGES, [2, -2, 0], {"direction_fits": [0] * 3, "direction_differs": [0] * 3}),
        ("what portion of it?", PARTS, [0.25, 4, -1, 0.5], {"portion_fits": [1, 0, 1, 0]}),
        ("what percentage of it?", PARTS, [0.25, 4, -1, 0.5], {"portion_differs": [0, 1, 0, 0]}),
        ("what of it?", PARTS, [0.25, 4, -1, 0.5], {"portion_fits": [0] * 4, "portion_differs": [0] * 4}),
        ("what?", PAIRS, [2, -30, 0], {"same_operands": [0, 0, 1], "zero_or_one": [0, 0, 1]}),
        ("from 2008 to 2009?", PAIRS, [2, -30, 0], {"years_used": [1, 0.5, 0.5], "every_year_used": [1, 0, 0]}),
        ("income in 2008?", PAIRS, [2, -30, 0], {"first_in_years": [0, 0, 0], "second_in_years": [1, 0, 0]}),
        ("what is the parent net income?", LOOK_UPS, [10, 8, 5], {"all_words": [1, 1, 0]}),
        ("in millions of dollars?", LOOK_UPS, [10, 8, 5], {"scale_fits": [0] * 3, "scale_differs": [0] * 3}),
    ],
)
def test_what_a_question_asks_for_is_seen_in_a_candidate(
    question: str, rows: list[Row], values: list[float], expected: dict[str, list[float]]
) -> None:
    features = _rows(_space([question]), _states(rows), values)
    assert features.shape == (len(rows), JOINT_WIDTH)
    assert {name: _column(name, features) for name in expected} == expected


def test_years_of_an_earlier_question_count_apart() -> None:
    space = _space(["income in 2008?", "and the assets?"], [("income in 2008?", "8")])
    features = _rows(space, _states([("select(A)", BEFORE, ABSENT), ("select(A)", NOW, ABSENT)]))
    assert _column("years_carried", features) == [1, 0]
    assert _column("years_used", features) == [0, 0]


def test_an_earlier_answer_speaks_of_the_figures_that_it_was_made_of() -> None:
    asked = ["a?", "the change in net income from 2008 to 2009?"]
    space = _space(asked, [("a?", "subtract(10, 8)")], [("a?", "8")], [("a?", "77")])
    states = np.concatenate([_states([("select(R)", FIRST_ANSWER, ABSENT)], history) for history in range(3)])
    features = _rows(space, states)
    assert _column("years_used", features) == [1.0, 0.5, 0.0], "no figure of the report is 77"


def test_the_scale_that_is_asked_for_is_the_result_s() -> None:
    states = _states(
        [
            ("select(A)", NOW, ABSENT),
            ("select(A)", RENTS, ABSENT),
            ("divide(A, C1000)", NOW, CONSTANT),
            ("multiply(A, C1000)", RENTS, CONSTANT),
            ("divide(R, C1000)", FIRST_ANSWER, CONSTANT),
        ]
    )
    expected = {"in millions": [0, 1, 1, 0], "in thousands": [1, 0, 0, 1], "in billions": [0, 0, 0, 0]}
    for words, fits in expected.items():
        features = _rows(_space(["a?", f"what was it, {words}?"], [("a?", "10")]), states)
        assert _column("scale_fits", features) == [*fits, 0], words
        assert _column("scale_differs", features) == [*(1 - fit for fit in fits), 0], "not known of earlier answers"


def test_an_answer_that_was_given_before_is_a_repetition_under_that_history_only() -> None:
    space = _space(["a?", "b?"], [("a?", "10")], [("a?", "8")])
    rows: list[Row] = [("select(A)", NOW, ABSENT)] * 3
    states = np.concatenate([_states(rows, 0), _states(rows, 1)])
    features = _rows(space, states, [10.0, 10.000001, 8.0] * 2)
    assert _column("repeats_answer", features) == [1, 1, 0, 0, 0, 1]
    assert _column("repeats_answer", _rows(_space(["a?"]), _states(rows))) == [0, 0, 0], "nothing was given"


def test_answers_may_be_calculated_with_where_the_report_has_no_figures() -> None:
    linear = np.ones(JOINT_WIDTH, dtype=np.float32)
    ranker = ChoiceNetwork.linear(linear, feature_widths()[2] - ROLE_WIDTH, 0)
    scorer = replace(_scorer(("subtract(R, R)",)), ranker=ranker)
    empty = ReportIndex([], [], Idf({}, 1.0))
    past = _past(("sales in millions?", "5"), ("costs?", "3"))
    questions = ["sales in millions?", "costs?", "the difference in millions?"]
    found = search_turn(empty, questions, fixed_history(empty, past), scorer, DerivationConfig())
    assert {str(candidate.derivation) for candidate in found.candidates} >= {"subtract(5, 3)", "subtract(3, 5)"}
