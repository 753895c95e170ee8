"""The beam that ships with finpath, on the example that it is introduced with."""

from __future__ import annotations

from decimal import Decimal

import pytest

from experiments.data import find_report
from experiments.saved import find_program
from kg.reports.report import Report
from programs.beam import ConversationQA

CHANGE = "subtract(50652, 38220), divide(#0, 38220)"


@pytest.fixture(scope="module")
def shipped() -> ConversationQA:
    return find_program("beam").program


@pytest.fixture(scope="module")
def report() -> Report:
    return find_report("MRLW/2020/page_49.pdf", "sample:dev")


@pytest.mark.parametrize("second", ["what was the net income in 2018?", "and in 2018?"])
def test_a_percentage_change_of_two_answers_is_two_operations(
    shipped: ConversationQA, report: Report, second: str
) -> None:
    questions = ["what was the net income in 2020?", second, "what percentage change is that?"]
    first, earlier, change = shipped(report=report, questions=questions).turns
    assert (first.answer, earlier.answer) == (Decimal(50652), Decimal(38220))
    assert change.answer is not None
    assert not isinstance(change.answer, str)
    assert round(change.answer, 5) == Decimal("0.32527")
    assert str(change.derivation) == CHANGE
    assert change.confidence is not None
    assert change.confidence > 0.5
    candidate = change.candidates[change.pick]
    assert candidate.answer == change.answer
    assert len(candidate.sources) == 3, "every figure of the calculation, where it was read"
