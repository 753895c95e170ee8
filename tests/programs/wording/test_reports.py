"""How things are written for a model and for a person."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kg.candidates.candidate import Candidate
from kg.derivations.derivation import Derivation
from kg.derivations.history import PastTurn
from kg.derivations.steps import Answer, Number
from kg.figures.figure_index import ReportIndex
from kg.figures.idf import Idf
from kg.ontology.learning import build_ontology
from kg.report_graphs.graph import build_report_graph
from kg.reports.report import Report
from programs.turns.turn import Turn
from programs.wording.reports import (
    written_answer,
    written_candidates,
    written_history,
    written_line_items,
    written_number,
)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Decimal(206588), "206588"),
        (Decimal("206588.000"), "206588"),
        (Decimal("0.141364"), "0.14136"),
        (Decimal("0.000001"), "0"),
        (Decimal("-0.000001"), "0"),
        (Decimal("-26.50"), "-26.5"),
        (Decimal("1E+3"), "1000"),
        (Decimal("1E+30"), "1" + "0" * 30),
        (Decimal("0E+30"), "0"),
        ("yes", "yes"),
        ("no", "no"),
    ],
)
def test_numbers_have_no_exponents_and_no_needless_zeros(answer: Answer, text: str) -> None:
    assert written_number(answer) == text


def test_the_largest_results_of_the_language_can_be_written() -> None:
    answer = Derivation.parse("exp(9, 40), divide(#0, 7)").execute()
    assert isinstance(answer, Decimal)
    assert Decimal(written_number(answer)) == pytest.approx(answer)


def test_an_answer_or_why_there_is_none() -> None:
    assert written_answer(Turn("?", answer=Decimal("5.0"))) == "5"
    assert written_answer(Turn("?", answer=Decimal(0))) == "0"
    assert written_answer(Turn("?", failure="empty_beam")) == "no answer (empty_beam)"


def test_the_history_is_a_line_a_turn() -> None:
    past = [PastTurn("a?", None, Decimal("5.0")), PastTurn("b?", None, None), PastTurn("c?", None, "yes")]
    assert written_history(past) == "Q1: a? -> 5\nQ2: b? -> not answered\nQ3: c? -> yes"
    assert written_history([]) == "none"


def test_candidates_are_numbered_from_one() -> None:
    derivation = Derivation.parse("divide(1, 3)")
    candidates = [
        Candidate(derivation, derivation.execute(), -0.1, "divide(A_2009 -> b -> 1, A_2008 -> b -> 3)"),
        Candidate(Derivation.parse("5"), Decimal(5), -0.2, "A_2009 -> c -> 5"),
    ]
    assert written_candidates(candidates) == (
        "1. divide(A_2009 -> b -> 1, A_2008 -> b -> 3) = 0.33333\n2. A_2009 -> c -> 5 = 5"
    )
    assert written_candidates([]) == ""


def test_a_candidate_s_figures_are_written_with_unit_scale_and_period() -> None:
    table = (("( in millions )", "2009", "2008"), ("net income", "$ 10", "$ 12"))
    report = Report("r", ("the margin was 4.5% in 2008 .",), table, ())
    graph = build_report_graph(report, build_ontology([report]))
    index = ReportIndex(graph.observations, report.sentences, Idf({}, 1.0))
    cell = next(one for one in index.observations if one.quantity.text == "12")
    margin = next(one for one in index.observations if one.quantity.unit == "percent")
    numbers = [Number(one.quantity.text, one.path, one.id) for one in (cell, margin)]
    derivation = Derivation.combine("subtract", *(Derivation.look_up(number) for number in numbers))
    look_up = Derivation.look_up(numbers[0])
    shown = [Candidate(derivation, Decimal(8), -0.1, "p"), Candidate(look_up, Decimal(12), -0.2, "q")]
    first, second, *candidates = written_candidates(shown, index).splitlines()
    assert first == f"a: {cell.entity} -> net_income -> 12 million (currency)"
    assert second.startswith("b: ")
    assert second.endswith(("-> 4.5%", "-> 4.5% in 2008"))
    assert candidates == ["1. subtract(a, b) = 8", "2. a = 12"], "each figure stands once"


def _line_items(report: Report) -> str:
    graph = build_report_graph(report, build_ontology([report]))
    return written_line_items(ReportIndex(graph.observations, report.sentences, Idf({}, 1.0)))


def test_line_items_are_the_rows_and_periods_of_the_table() -> None:
    rows = (("", "2009", "2008"), ("net income", "$ 10", "$ 11"), ("total cost", "1", "2"))
    report = Report("r", ("goodwill was $ 5 million in 1999 .",), rows, ())
    assert _line_items(report) == "net income; total cost | periods: 2009, 2008"
    assert _line_items(Report("r", ("goodwill was $ 5 million .",), (), ())) == " | periods: none"


def test_long_labels_are_shortened() -> None:
    report = Report("r", (), (("", "2009"), ("a rather long label " * 9, "5")), ())
    label = _line_items(report).partition(" | ")[0]
    assert len(label) == 60
    assert label.endswith("…")
