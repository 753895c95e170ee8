"""Pages that are cut to a few rows."""

from __future__ import annotations

from kg.reports import Report
from optimize.encoders.cut_pages import cut_pages
from optimize.scorers import training_turns
from tests.kg.calculations.pages import report_index


def test_a_page_is_cut_with_and_without_the_rows_of_its_question() -> None:
    head, *rows = [("", "2019", "2018"), *((f"line {n}", str(10 + n), str(40 + n)) for n in range(9))]
    report = Report("ACME/2019/page_1.pdf", ("In 2019.",), (head, *rows), ())
    (turn,) = training_turns("r", report_index(report), ["line 3 less line 5 in 2019?"], ["subtract(13, 15)"])
    (whole, answer), (less, none) = cut_pages(report, turn)
    assert (answer, none, whole.sentences, less.sentences) == (turn.answer, None, (), ())
    assert {rows[3], rows[5]} <= {*whole.table}
    assert not {rows[3], rows[5]} <= {*less.table}
    assert all(cut.table[0] == head and {*cut.table[1:]} < {*rows} for cut in (whole, less))
    (elsewhere,) = training_turns("r", report_index(report), ["how many?"], ["77"])
    assert list(cut_pages(report, elsewhere)) == []
