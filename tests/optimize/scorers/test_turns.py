"""Training turns: the gold history before each question, and shortened conversations."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kg.search.derivation import Derivation
from kg.search.history import Reference
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
