"""Questions that a report does not answer any more."""

from __future__ import annotations

from kg.calculations.idf import Idf
from kg.calculations.report_index import ReportIndex
from kg.reports import Report, build_ontology, build_report_graph
from optimize.scorers.turns import training_turns, unanswerable_turn, without_figures

REPORT = Report(
    "a",
    ("sales were $ 120 million in 2020 .", "costs rose ."),
    (("", "2020", "2019"), ("sales", "120", "100"), ("costs", "81", "72"), ("tax", "31", "29")),
    ("we paid 31 to the state .",),
)
ONTOLOGY = build_ontology([REPORT], min_reports=1)


def _read(report: Report) -> ReportIndex:
    return ReportIndex(build_report_graph(report, ONTOLOGY).observations, report.sentences, Idf({}, 1.0))


QUESTIONS = ("sales in 2020?", "costs in 2020?", "and in 2019?", "tax?", "the difference to the costs in 2020?")
PROGRAMS = ("120", "81", "72", "31", "subtract(31, 81)")
TURNS = training_turns("a", _read(REPORT), QUESTIONS, PROGRAMS)


def test_rows_and_sentences_are_removed() -> None:
    observations = [one for one in _read(REPORT).observations if one.quantity.value in (120, 31)]
    smaller = without_figures(REPORT, observations)
    assert smaller.table == (REPORT.table[0], REPORT.table[2])
    assert smaller.pre_text == ("costs rose .",)
    assert smaller.post_text == ()
    assert smaller.id == "a"


def test_a_turn_without_its_figures_has_the_same_history() -> None:
    turn = unanswerable_turn(REPORT, TURNS, PROGRAMS, 3, _read)
    assert turn is not None
    assert turn.questions == QUESTIONS[:4]
    assert [one.value for one in turn.history] == [120, 81, 72]
    assert not {31, 29} & {abs(value) for value in turn.index.values}
    assert {120, 81, 72} <= {abs(value) for value in turn.index.values}


def test_turns_that_need_earlier_figures_stay_as_they_are() -> None:
    assert unanswerable_turn(REPORT, TURNS, PROGRAMS, 2, _read) is None, "in the row of an earlier figure"
    assert unanswerable_turn(REPORT, TURNS, PROGRAMS, 4, _read) is None, "no figure of its own"
