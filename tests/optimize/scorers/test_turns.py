"""Training turns: the gold history before each question, and shortened conversations."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kg.calculations.report_index import Idf, ReportIndex
from kg.reports import Report, build_ontology, build_report_graph
from kg.search.derivation import Derivation
from kg.search.history import Reference
from optimize.encoders.held_out import unanswerable_turn, without_figures
from optimize.scorers.derivations import SHORTENED_WEIGHT, shortened_turns, training_turns
from tests.optimize.scorers.changes import PROGRAMS, QUESTIONS, UNKNOWN, report_index


def test_training_turns_carry_the_gold_history_before_each_question() -> None:
    turns = training_turns("r", report_index(), QUESTIONS, PROGRAMS)
    assert [len(turn.questions) for turn in turns] == [1, 2, 3, 4]
    assert [turn.collapsed.form if turn.collapsed else None for turn in turns] == [
        "select(A)",
        "select(A)",
        "subtract(R, R)",
        "divide(R, C1000)",
    ]
    assert [[past.value for past in turn.history] for turn in turns] == [[], [10], [10, 12], [10, 12, -2]]
    assert turns[3].answer == Decimal("-0.002")


CHANGE = ["10", "12", "subtract(10, 12)", "subtract(10, 12), divide(#0, 12)"]


@pytest.mark.parametrize("known", [True, False])
def test_a_change_that_is_not_asked_for_makes_the_next_turn_two_operations_at_once(known: bool) -> None:
    index = report_index() if known else UNKNOWN
    (turn,) = shortened_turns("r", index, QUESTIONS, CHANGE)
    assert turn.questions == (QUESTIONS[0], QUESTIONS[1], QUESTIONS[3])
    assert turn.collapsed is not None
    assert turn.collapsed.form == "change_ratio(R, R)"
    assert turn.collapsed.operands == (Reference(0), Reference(1))
    assert str(turn.derivation) == CHANGE[3]
    assert turn.answer == Derivation.parse(CHANGE[3]).execute()
    assert [past.value for past in turn.history] == [10, 12]
    assert [past.all_figures != () for past in turn.history] == [known, known]
    assert (turn.group, turn.index, turn.weight) == ("r", index, SHORTENED_WEIGHT)


@pytest.mark.parametrize(
    "programs",
    [
        PROGRAMS,
        CHANGE[:3],
        CHANGE[:1],
        [],
        [*CHANGE[:2], "nonsense(", CHANGE[3]],
        [CHANGE[0], "nonsense(", *CHANGE[2:]],
    ],
)
def test_conversations_that_cannot_be_shortened(programs: list[str]) -> None:
    found = shortened_turns("r", report_index(), QUESTIONS, programs)
    broken_change = programs[2:3] == ["nonsense("]
    assert [turn.questions for turn in found] == ([(*QUESTIONS[:2], QUESTIONS[3])] if broken_change else [])


@pytest.mark.parametrize("broken", ["nonsense(", "divide(1, 0)", "table_sum(x, none)"])
def test_turns_after_a_program_that_cannot_be_executed_are_left_out(broken: str) -> None:
    turns = training_turns("r", report_index(), QUESTIONS, [PROGRAMS[0], broken, *PROGRAMS[2:]])
    assert len(turns) == 1


PAGE = Report(
    "a",
    ("sales were $ 120 million in 2020 .", "costs rose ."),
    (("", "2020", "2019"), ("sales", "120", "100"), ("costs", "81", "72"), ("tax", "31", "29")),
    ("we paid 31 to the state .",),
)
PAGE_ONTOLOGY = build_ontology([PAGE], min_reports=1)


def _read(report: Report) -> ReportIndex:
    return ReportIndex(build_report_graph(report, PAGE_ONTOLOGY).observations, report.sentences, Idf({}, 1.0))


ASKED = ("sales in 2020?", "costs in 2020?", "and in 2019?", "tax?", "the difference to the costs in 2020?")
ANSWERING = ("120", "81", "72", "31", "subtract(31, 81)")
ASKED_TURNS = training_turns("a", _read(PAGE), ASKED, ANSWERING)


def test_rows_and_sentences_are_removed() -> None:
    observations = [one for one in _read(PAGE).observations if one.quantity.value in (120, 31)]
    smaller = without_figures(PAGE, observations)
    assert smaller.table == (PAGE.table[0], PAGE.table[2])
    assert smaller.pre_text == ("costs rose .",)
    assert smaller.post_text == ()
    assert smaller.id == "a"


def test_a_turn_without_its_figures_has_the_same_history() -> None:
    turn = unanswerable_turn(PAGE, ASKED_TURNS, ANSWERING, 3, _read)
    assert turn is not None
    assert turn.questions == ASKED[:4]
    assert [one.value for one in turn.history] == [120, 81, 72]
    assert not {31, 29} & {abs(value) for value in turn.index.values}
    assert {120, 81, 72} <= {abs(value) for value in turn.index.values}


def test_turns_that_need_earlier_figures_stay_as_they_are() -> None:
    assert unanswerable_turn(PAGE, ASKED_TURNS, ANSWERING, 2, _read) is None, "in the row of an earlier figure"
    assert unanswerable_turn(PAGE, ASKED_TURNS, ANSWERING, 4, _read) is None, "no figure of its own"
