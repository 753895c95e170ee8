from __future__ import annotations

from typing import Any

import pytest

from kg.calculations.report_index import ReportIndex
from kg.reports.report import Report
from kg.search.derivation import Derivation
from kg.search.history import PastTurn
from optimize.examples import GoldMeaning, gold_meaning

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
