from __future__ import annotations

from typing import Any

import dspy
import pytest

from kg.derivations.derivation import Derivation
from kg.derivations.history import PastTurn
from kg.figures.figure_index import ReportIndex
from kg.reports.report import Report
from optimize.metrics.labels import GoldMeaning, gold_meaning, misunderstandings
from optimize.prompts.turns import (
    TurnStudent,
    apply_prompt_state,
    prompt_state,
    split_turns,
    state_hash,
    turn_examples,
)
from signatures.understand import Understanding

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


def test_a_question_has_its_meaning_in_words(index: ReportIndex) -> None:
    look_up = gold_meaning(index, "what was the net income in 2009?", "50", [])
    assert look_up == GoldMeaning("net income in 2009", "select")
    change = gold_meaning(index, "and the change?", "subtract(50, 40)", past("50", "40"))
    assert change == GoldMeaning("net income in 2009 minus net income in 2008", "subtract")
    relative = gold_meaning(index, "in percent?", "subtract(50, 40), divide(#0, 40)", past("50"))
    words = "the change of net income in 2009 from net income in 2008, relative to it"
    assert relative == GoldMeaning(words, "change_ratio")


def test_what_cannot_be_written_shortly_has_no_label(index: ReportIndex) -> None:
    assert gold_meaning(index, "?", "add(1, 2)", []) is None
    assert gold_meaning(index, "?", "add(50, 40), multiply(#0, 200)", []) is None


def test_refused_calculations_are_misunderstandings() -> None:
    understanding = Understanding(description="", calculation="none", confidence=0.5, says_none=True, refused=["no"])
    assert misunderstandings(understanding) == ["a calculation was refused: no", "the page was said not to answer"]
    assert misunderstandings(None) == []


def test_turn_examples_hold_gold_history_and_short_texts(shipped_beam: Any, sample_train: list[dspy.Example]) -> None:
    examples = turn_examples(sample_train[:1], shipped_beam.turn.reader)
    assert len(examples) == len(sample_train[0].questions)
    assert [len(one.history.turns) for one in examples] == list(range(len(examples)))
    assert len(repr(examples[0].report)) < 60
    assert str(examples[1].history).startswith("[a1] ")
    assert set(examples[0].inputs()) == {"report", "question", "history"}


def test_validation_turns_are_of_other_reports(shipped_beam: Any, sample_train: list[dspy.Example]) -> None:
    split = split_turns(sample_train, shipped_beam.turn.reader, train=100, val=8, seed=1)
    assert len(split.val) == 8
    assert not {one.report.report.id for one in split.train} & {one.report.report.id for one in split.val}


def test_prompts_can_be_put_back(shipped_beam: Any) -> None:
    one, other = shipped_beam.turn.deepcopy(), shipped_beam.turn.deepcopy()
    one.understand.predict.signature = one.understand.predict.signature.with_instructions("Say it.")
    one.understand.predict.demos = [dspy.Example(question="and?")]
    state = prompt_state(TurnStudent(one))
    assert state_hash(state) != state_hash(prompt_state(other))
    apply_prompt_state(other, state)
    assert prompt_state(other) == state


def test_optimizers_see_the_prompts_that_are_asked(shipped_beam: Any) -> None:
    student = TurnStudent(shipped_beam.turn, ["turn.understand.predict"])
    assert [name for name, _ in student.named_predictors()] == ["turn.understand.predict"]
    assert {"turn.understand.predict", "turn.aggregate.predict"} <= {
        name for name, _ in TurnStudent(shipped_beam.turn).named_predictors()
    }
