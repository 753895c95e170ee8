"""A user's own questions with their answers: evaluated, compared, compiled on, and taken by DSPy."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import dspy
import pytest

import finpath
from experiments.compiling import infer_programs
from experiments.data import conversation_examples, load_conversations
from kg.errors import DataError

TURNS = [("what were net sales in 2020?", "4,120"), ("and in 2019?", 3980), ("what was the change?", Decimal(140))]


@pytest.fixture
def income(tmp_path: Path) -> Path:
    (tmp_path / "income.csv").write_text(",2020,2019\nNet sales,4120,3980\nNet income,402,371\n")
    return tmp_path / "income.csv"


def test_a_file_and_rows_are_the_same_conversation(income: Path) -> None:
    questions, answers = zip(*TURNS, strict=True)
    written = {"files": ["income.csv"], "questions": questions, "answers": [*map(str, answers)]}
    (income.parent / "dev.json").write_text(json.dumps(written))
    rows = [
        {"report": str(income), "question": question, "answer": str(answer), "conversation": "a", "turn": 3 - place}
        for place, (question, answer) in enumerate(reversed(TURNS))
    ]
    [own], [other] = (load_conversations(source).conversations for source in (income.parent / "dev.json", rows))
    assert (own.questions, own.gold, own.report) == (other.questions, other.gold, other.report)
    assert own.gold == (Decimal(4120), Decimal(3980), Decimal(140))
    [inferred] = infer_programs(finpath.load("beam"), [own])
    assert inferred.programs == ("4120", "3980", "subtract(4120, 3980)")
    [whole] = conversation_examples([own])
    assert finpath.metric(whole, finpath.load("beam")(**whole.inputs())).score == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ({"question": "sales?", "answer": 1}, "must have report or files"),
        ({"report": "none.csv", "question": "sales?", "answer": 1}, "none.csv"),
        ({"report": "income.csv", "question": "sales?", "answer": "about five"}, "a gold answer must be a number"),
        ({"files": ["income.csv"], "questions": ["sales?"], "answers": []}, "answers of one length"),
        ({"report": "income.csv", "question": "sales?", "answer": 1, "turn": "x"}, "turn must be a whole number"),
    ],
)
def test_a_row_that_breaks_a_rule_is_left_out(row: dict[str, Any], rule: str, income: Path) -> None:
    good = {"report": "income.csv", "question": "sales?", "answer": None}
    (income.parent / "dev.json").write_text(json.dumps([good, row]))
    loaded = load_conversations(income.parent / "dev.json")
    assert len(loaded.conversations) == 1
    assert rule in str(loaded.problems[0])
    assert "row 2" in str(loaded.problems[0])
    with pytest.raises(DataError, match="holds no"):
        load_conversations([])


@pytest.mark.usefixtures("tracking_uri")
def test_examples_are_evaluated_and_compared(income: Path) -> None:
    report = finpath.read(income)
    dev = [dspy.Example(report=report, question=q, answer=a).with_inputs("report", "question") for q, a in TURNS[::2]]
    program = finpath.load("beam")
    first = finpath.evaluate("beam", dev)
    finpath.evaluate(program, dev, run_name="again")
    right = first.figures["exe_accuracy"]
    assert dspy.Evaluate(devset=dev, metric=finpath.metric)(program).score == 100 * right
    [difference] = finpath.compare(first, "again").differences
    assert (right > 0, difference.figures["difference"]) == (True, 0.0)


@pytest.mark.parametrize(
    ("gold", "answer", "score"),
    [
        ("5.4%", Decimal("0.054"), 1.0),
        (4120, "4,120", 1.0),
        (["Net sales"], ("net sales",), 1.0),
        (4120, "about four thousand", 0.0),
        (None, 4120, 0.0),
    ],
)
def test_the_metric_takes_answers_of_any_form(gold: Any, answer: Any, score: float) -> None:
    assert finpath.metric(dspy.Example(answer=gold), answer).score == score  # type: ignore[union-attr]
