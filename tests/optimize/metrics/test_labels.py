from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from kg.derivations.derivation import Derivation
from kg.derivations.history import PastTurn
from kg.figures.figure_index import ReportIndex
from kg.reports.report import Report
from optimize.metrics.labels import field_accuracies, gold_understanding, label_fields, misunderstandings
from optimize.prompts.turns import (
    HistoryHandle,
    ReportHandle,
    TurnStudent,
    apply_prompt_state,
    demonstrations,
    prompt_state,
    split_turns,
    state_hash,
    tidy_demonstrations,
    turn_examples,
)
from signatures.understanding import Understand, Understanding

REPORT = Report(
    "ACME/2009/page_1.pdf",
    ("the company had 12 employees .",),
    (("", "2009", "2008"), ("net income", "50", "40"), ("total revenues", "200", "160")),
    (),
)


@pytest.fixture
def index(shipped_beam: Any) -> ReportIndex:
    _, found = shipped_beam.turn.reader.read(REPORT)
    assert isinstance(found, ReportIndex)
    return found


def past(*programs: str) -> list[PastTurn]:
    return [PastTurn(f"q{place}?", Derivation.parse(text), None) for place, text in enumerate(programs)]


def test_a_look_up_names_its_line_item_and_period(index: ReportIndex) -> None:
    gold = gold_understanding(index, "what was the net income in 2009?", "50", [])
    assert gold is not None
    assert (gold.properties, gold.periods, gold.operation) == (("net income",), ("2009",), "select")
    assert gold.description == "net income in 2009"
    assert gold.operands == ("net income @ 2009",)
    assert not gold.calculates
    assert gold.is_clear


def test_a_calculation_refers_to_earlier_answers(index: ReportIndex) -> None:
    gold = gold_understanding(index, "and the change?", "subtract(50, 40)", past("50", "40"))
    assert gold is not None
    assert gold.operands == ("answer 1", "answer 2")
    assert gold.description == "net income in 2009 minus net income in 2008"
    change = gold_understanding(index, "in percent?", "subtract(50, 40), divide(#0, 40)", past("50"))
    assert change is not None
    assert change.operation == "change_ratio"
    assert change.description == "the change of net income in 2009 from net income in 2008, relative to it"


def test_what_cannot_be_said_shortly_has_no_label(index: ReportIndex) -> None:
    assert gold_understanding(index, "?", "add(1, 2)", []) is None
    assert gold_understanding(index, "?", "add(50, 40), multiply(#0, 200)", []) is None
    unclear = gold_understanding(index, "how many employees?", "12", [])
    assert unclear is not None
    assert not unclear.is_clear


def test_labels_are_understandings(index: ReportIndex) -> None:
    gold = gold_understanding(index, "what was the net income in 2009?", "50", [])
    assert gold is not None
    fields = label_fields(gold, Understanding.model_fields)
    assert fields is not None
    assert Understanding(**fields).properties == ["net income"]


def test_what_was_understood_wrongly_is_said(index: ReportIndex) -> None:
    gold = gold_understanding(index, "and the change?", "subtract(50, 40)", past("50", "40"))
    right = SimpleNamespace(operation="subtract", periods=["2009", "2008"], properties=["net income"])
    assert misunderstandings(right, gold) == []
    wrong = SimpleNamespace(operation="divide", periods=["2009"], properties=["revenues"])
    assert misunderstandings(wrong, gold) == [
        "the operation was understood as divide, but it is subtract",
        "the period was understood as 2009, but it is 2008",
        "the line item 'net income' was not named",
    ]
    assert misunderstandings(None, gold) == []


def test_turn_examples_hold_gold_history_and_short_texts(shipped_beam: Any, sample_train: list[dspy.Example]) -> None:
    examples = turn_examples(sample_train[:1], shipped_beam.turn.reader)
    assert len(examples) == len(sample_train[0].questions)
    assert [len(one.history.turns) for one in examples] == list(range(len(examples)))
    assert len(repr(examples[0].report)) < 60
    assert str(examples[1].history).startswith("Q1: ")
    assert set(examples[0].inputs()) == {"report", "question", "history"}


def test_validation_turns_are_of_other_reports(shipped_beam: Any, sample_train: list[dspy.Example]) -> None:
    split = split_turns(sample_train, shipped_beam.turn.reader, train=100, val=8, seed=1)
    assert len(split.val) == 8
    assert not {one.report.report.id for one in split.train} & {one.report.report.id for one in split.val}


def test_demonstrations_take_operations_in_turns(shipped_beam: Any, sample_train: list[dspy.Example]) -> None:
    examples = turn_examples(sample_train, shipped_beam.turn.reader)
    pool = demonstrations(examples, Understand, 700, seed=0)
    assert len({demo.understanding.operation for demo in pool[:3]}) == 3
    assert all(set(demo) == set(Understand.fields) for demo in pool)
    assert all(sum(len(str(value)) for value in demo.values()) <= 700 for demo in pool)
    assert demonstrations(examples, Understand, 1, seed=0) == []


def test_demonstrations_keep_their_own_fields_only(shipped_beam: Any) -> None:
    student = TurnStudent(shipped_beam.turn.deepcopy())
    whole = dict.fromkeys(Understand.fields, "x")
    handles = {"report": ReportHandle(REPORT), "history": HistoryHandle(past("50"))}
    student.turn.understand.demos = [dspy.Example({**whole, **handles, "program": "50"}), dspy.Example(question="x")]
    tidy_demonstrations(student)
    (demo,) = student.turn.understand.demos
    assert set(demo) == set(Understand.fields)
    assert demo.history == "Q1: q0? -> not answered"


def test_prompts_can_be_put_back(shipped_beam: Any) -> None:
    one, other = shipped_beam.turn.deepcopy(), shipped_beam.turn.deepcopy()
    one.understand.signature = one.understand.signature.with_instructions("Say it.")
    one.understand.demos = [dspy.Example(question="and?")]
    state = prompt_state(TurnStudent(one))
    assert state_hash(state) != state_hash(prompt_state(other))
    apply_prompt_state(other, state)
    assert prompt_state(other) == state


def test_optimizers_see_the_prompts_that_are_asked(shipped_beam: Any) -> None:
    student = TurnStudent(shipped_beam.turn, ["turn.understand"])
    assert [name for name, _ in student.named_predictors()] == ["turn.understand"]
    assert {"turn.understand", "turn.aggregate"} <= {
        name for name, _ in TurnStudent(shipped_beam.turn).named_predictors()
    }


def test_fields_are_counted_one_by_one(index: ReportIndex) -> None:
    gold = gold_understanding(index, "and the change?", "subtract(50, 40)", past("50", "40"))
    right = SimpleNamespace(operation="subtract", periods=["2008", "2009"], properties=["net income"])
    wrong = SimpleNamespace(operation="add", periods=["2008", "2009"], properties=["net income"])
    assert field_accuracies([(right, gold), (wrong, gold), (None, gold), (right, None)]) == {
        "operation": pytest.approx(1 / 3),
        "periods": pytest.approx(2 / 3),
        "properties": pytest.approx(2 / 3),
        "all": pytest.approx(1 / 3),
        "turns": 3.0,
    }
    assert field_accuracies([(None, gold)]) == {}
