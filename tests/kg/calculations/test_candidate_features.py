"""What is seen of a whole candidate, on a report of a few figures that is made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from numpy.typing import NDArray

from kg.calculations.candidate_features import joint_features
from kg.calculations.figure_relations import PAIR_FEATURES
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
from kg.search.history import OPERATIONS, PastTurn
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


def test_the_features_have_the_width_that_the_ranker_must_have() -> None:
    space = _space(["the change in net income?"])
    states = _states([("select(A)", NOW, ABSENT), ("divide(A, C1000)", NOW, CONSTANT)])
    features = _rows(space, states)
    assert features.shape == (2, JOINT_WIDTH) == (2, len(JOINT_NAMES) + len(OPERATIONS) + 6 + PAIR_FEATURES)
    assert features.dtype == np.float32
    assert np.isfinite(features).all()
    assert _rows(space, states[:0]).shape == (0, JOINT_WIDTH)


def test_what_the_search_says_of_a_candidate() -> None:
    asked = ["a?", "b?"]
    space = _space(asked, [("a?", "10")], [("a?", "8")])
    states = np.concatenate([_states([("select(A)", NOW, ABSENT), ("divide(A, A)", NOW, BEFORE)], h) for h in (0, 1)])
    scores = np.array([-1.0, -3.0, -2.0, -90.0], dtype=np.float32)
    support = np.array([-0.5, -3.0, -2.0, -60.0])
    features = joint_features(space, states, scores, np.array([10.0, 1.25, 10.0, 1.25]), support)
    assert _column("score", features) == [-1.0, -3.0, -2.0, -90.0]
    assert _column("history", features) == pytest.approx(np.log([1 / 2, 1 / 2, 1 / 3, 1 / 3]))
    assert _column("support", features) == pytest.approx([0.25, 0.0, 0.0, 15.0])
    assert _column("behind_best", features) == pytest.approx([0.0, -0.4, -0.2, -4.0]), "at most 20 in the logarithm"


def test_words_count_once_for_the_operands_together() -> None:
    space = _space(["what share of total assets is the parent net income?"])
    features = _rows(
        space,
        _states(
            [
                ("select(A)", NOW, ABSENT),
                ("divide(A, A)", NOW, BEFORE),
                ("divide(A, A)", NOW, ASSETS),
                ("divide(A, C1000)", ASSETS, CONSTANT),
                ("select(A)", RENTS, ABSENT),
            ]
        ),
    )
    assert len(space.question.words) == 6, "share, total, asset, parent, net, income"
    assert _column("near_words", features) == pytest.approx([2 / 6, 2 / 6, 4 / 6, 2 / 6, 0.0])
    assert _column("all_words", features) == pytest.approx([3 / 6, 3 / 6, 5 / 6, 3 / 6, 0.0]), "the section's too"


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("what was the increase?", [1, 0, 0]),
        ("by how much did it grow, the growth?", [1, 0, 0]),
        ("what was the decline?", [0, 1, 1]),
        ("how much has it decreased?", [0, 1, 1]),
        ("what was the change?", None),
        ("the increase or decrease?", None),
    ],
)
def test_a_rise_is_positive_and_a_fall_is_not(question: str, fits: list[int] | None) -> None:
    states = _states([("subtract(A, A)", NOW, BEFORE)] * 3)
    features = _rows(_space([question]), states, [2.0, -2.0, 0.0])
    assert _column("direction_fits", features) == (fits or [0, 0, 0])
    assert _column("direction_differs", features) == ([1 - fit for fit in fits] if fits else [0, 0, 0])


def test_which_of_the_years_that_the_question_names_are_used() -> None:
    space = _space(["the change from 2008 to 2009?"])
    features = _rows(
        space,
        _states(
            [
                ("subtract(A, A)", NOW, BEFORE),
                ("subtract(A, A)", NOW, ASSETS),
                ("select(A)", BEFORE, ABSENT),
                ("divide(A, C1000)", NOW, CONSTANT),
            ]
        ),
    )
    assert _column("years_used", features) == [1.0, 0.5, 0.5, 0.5]
    assert _column("every_year_used", features) == [1, 0, 0, 0]
    assert _column("first_in_years", features) == [1, 1, 1, 1]
    assert _column("second_in_years", features) == [1, 1, 0, 0]
    assert _column("years_carried", features) == [0, 0, 0, 0]


def test_years_of_an_earlier_question_count_apart() -> None:
    space = _space(["income in 2008?", "and the assets?"], [("income in 2008?", "8")])
    features = _rows(space, _states([("select(A)", BEFORE, ABSENT), ("select(A)", NOW, ABSENT)]))
    assert _column("years_carried", features) == [1, 0]
    for name in ("years_used", "every_year_used", "first_in_years", "second_in_years"):
        assert _column(name, features) == [0, 0]


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


@pytest.mark.parametrize("word", ["portion", "percentage", "proportion", "share", "percent"])
def test_a_portion_is_a_quotient_of_at_most_one(word: str) -> None:
    rows: list[Row] = [("divide(A, A)", NOW, ASSETS)] * 3 + [("subtract(A, A)", NOW, BEFORE)]
    values = [0.25, 4.0, -1.0, 0.5]
    features = _rows(_space([f"what {word} of the assets?"]), _states(rows), values)
    assert _column("portion_fits", features) == [1, 0, 1, 0]
    assert _column("portion_differs", features) == [0, 1, 0, 0]
    unasked = _rows(_space(["what of the assets?"]), _states(rows), values)
    assert not any(_column("portion_fits", unasked) + _column("portion_differs", unasked))


def test_equal_operands_and_results_that_say_nothing_stand_out() -> None:
    rows: list[Row] = [
        ("subtract(A, A)", NOW, NOW),
        ("divide(A, A)", NOW, NOW),
        ("subtract(A, A)", NOW, BEFORE),
        ("select(A)", NOW, ABSENT),
    ]
    features = _rows(_space(["what?"]), _states(rows), [0.0, 1.0, 2.0, 10.0])
    assert _column("same_operands", features) == [1, 1, 0, 0]
    assert _column("zero_or_one", features) == [1, 1, 0, 0]


def test_an_answer_that_was_given_before_is_a_repetition_under_that_history_only() -> None:
    space = _space(["a?", "b?"], [("a?", "10")], [("a?", "8")])
    rows: list[Row] = [("select(A)", NOW, ABSENT)] * 3
    states = np.concatenate([_states(rows, 0), _states(rows, 1)])
    features = _rows(space, states, [10.0, 10.000001, 8.0] * 2)
    assert _column("repeats_answer", features) == [1, 1, 0, 0, 0, 1]
    assert _column("repeats_answer", _rows(_space(["a?"]), _states(rows))) == [0, 0, 0], "nothing was given"


def test_operation_and_kinds_of_the_operands_are_told() -> None:
    space = _space(["a?", "b?"], [("a?", "10")])
    rows: list[Row] = [
        ("select(A)", NOW, ABSENT),
        ("subtract(A, R)", NOW, FIRST_ANSWER),
        ("divide(R, C1000)", FIRST_ANSWER, CONSTANT),
    ]
    kinds = _rows(space, _states(rows))[:, len(JOINT_NAMES) : -PAIR_FEATURES]
    for row, operation, letters in zip(kinds, ("select", "subtract", "divide"), ("A", "AR", "RC"), strict=True):
        expected = np.zeros(len(OPERATIONS) + 6)
        expected[OPERATIONS.index(operation)] = 1
        for position, letter in enumerate(letters):
            expected[len(OPERATIONS) + 3 * position + "ARC".index(letter)] = 1
        assert row.tolist() == expected.tolist()


def test_answers_may_be_calculated_with_where_the_report_has_no_figures() -> None:
    linear = np.ones(JOINT_WIDTH, dtype=np.float32)
    ranker = ChoiceNetwork.linear(linear, feature_widths()[2] - ROLE_WIDTH, 0)
    scorer = replace(_scorer(("subtract(R, R)",)), ranker=ranker)
    empty = ReportIndex([], [], Idf({}, 1.0))
    past = _past(("sales in millions?", "5"), ("costs?", "3"))
    questions = ["sales in millions?", "costs?", "the difference in millions?"]
    found = search_turn(empty, questions, fixed_history(empty, past), scorer, DerivationConfig())
    assert {str(candidate.derivation) for candidate in found.candidates} >= {"subtract(5, 3)", "subtract(3, 5)"}
