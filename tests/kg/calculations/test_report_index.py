"""A report graph as the arrays that the search reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kg.calculations.lines import TableLines
from kg.calculations.report_index import Idf, ReportIndex
from kg.calculations.scorer import DerivationScorer
from kg.calculations.turn_search import START, DerivationConfig, search_turn
from kg.reports import build_ontology
from kg.reports.graph import build_report_graph
from kg.reports.report import Report
from kg.search.derivation import Derivation
from tests.kg.calculations.pages import table_index

REPORT = Report(
    id="ACME/2009/page_3.pdf",
    pre_text=("net income was $ 118.2 million in 2009 , up from $ 65.6 million .",),
    table=(
        ("", "2009", "2008"),
        ("net income", "$ 118.2", "-26 ( 26 )"),
        ("operating margin", "4.02% ( 4.02 % )", "3.10%"),
        ("cost of sales", "118.2", "70"),
    ),
    post_text=(),
)


def _index(report: Report = REPORT, idf: Idf | None = None) -> ReportIndex:
    graph = build_report_graph(report, build_ontology([REPORT]))
    return ReportIndex(graph.observations, report.sentences, idf if idf is not None else Idf({}, 1.0))


def _place(index: ReportIndex, identifier: str) -> int:
    return [observation.id for observation in index.observations].index(identifier)


@pytest.mark.parametrize("digits", ["201020092008200720062005", "9" * 100, "-" + "9" * 99])
def test_numbers_larger_than_any_figure_stay_finite_and_are_not_asked_for(digits: str) -> None:
    table = (("", "2009"), ("net income", "$ 7"), ("other", digits), (digits, "$ 8"))
    index = _index(Report("long", (f"the account {digits} was closed .",), table, ()))
    assert np.isfinite(index.numbers).all()
    assert np.isfinite(index.amounts).all()
    long = [observation for observation in index.observations if len(observation.quantity.text) > 15]
    assert len(long) == 3
    assert all(observation.in_header for observation in long)
    assert np.array_equal(index.numbers[[index.texts.index(digits)]], [-1e15 if digits.startswith("-") else 1e15])
    found = search_turn(index, ["what was the net income?"], START, DerivationScorer.untrained(), DerivationConfig())
    assert found.candidates


def test_idf_counts_documents_not_occurrences() -> None:
    idf = Idf.learn(["cash cash cash", "cash sales", "sales of boats", "cash"])
    assert idf("sale") > idf("cash") > 0
    assert idf("boat") == idf("never") == idf.unseen > idf("sale")
    assert Idf.learn(["cash sales", "cash"]) == Idf.learn(["cash", "sales cash"])
    assert Idf.learn([]).weights == {}


def test_a_figure_without_source_is_found_by_value_and_the_question_s_words() -> None:
    index = _index()
    figure = Derivation.parse("118.2")
    assert index.align(figure, "cost of sales?") == (_place(index, "r3c1"),)
    assert index.align(figure, "net income in 2009?") == (_place(index, "r1c1"),)
    assert index.align(Derivation.parse("26"), "?") == (_place(index, "r1c2"),), "whatever its sign"
    assert index.align(Derivation.parse("4.02%"), "?") == (_place(index, "r2c1"),)
    assert index.align(Derivation.parse("add(5, 70)"), "?") == (_place(index, "r3c2"),), "5 is nowhere"


def test_an_opening_balance_is_of_the_end_of_the_year_before() -> None:
    table = (("", "2009", "2008"), ("balance at january 1", "$ 7", "$ 5"), ("balance at december 31", "$ 9", "$ 7"))
    index = _index(Report("balances", (), table, ()))
    periods = {cell: int(index.period[_place(index, cell)]) for cell in ("r1c1", "r1c2", "r2c1", "r2c2")}
    assert periods == {"r1c1": 2008, "r1c2": 2007, "r2c1": 2009, "r2c2": 2008}
    assert index.opening[_place(index, "r1c1")]
    assert not index.opening[_place(index, "r2c1")]


def lines(*table: Sequence[str]) -> TableLines:
    return TableLines(table_index(*table, ontology=build_ontology([])))


def labels(found: TableLines, *, across: bool) -> list[tuple[str, ...]]:
    return [one.labels for one in found.lines if one.across is across]


SEGMENTS = (
    ("", "2019", "2018"),
    ("north", "120", "110"),
    ("south", "80", "85"),
    ("west", "30", "31"),
    ("sum of the regions", "230", "226"),
    ("other", "10", "12"),
    ("total sales", "240", "238"),
)


def test_totals_are_left_out_by_their_words_and_by_their_figures() -> None:
    found = lines(*SEGMENTS)
    columns = labels(found, across=False)
    assert ("north", "south", "west") in columns
    assert ("north", "south", "west", "other") in columns
    assert not any("total sales" in one or "sum of the regions" in one for one in columns)


def test_rows_are_lines_of_periods_totals_included() -> None:
    found = lines(*SEGMENTS)
    assert labels(found, across=True).count(("2019", "2018")) == 6
    assert all(one.dated and one.timed for one in found.lines if one.across)


def test_figures_of_another_unit_are_another_line() -> None:
    found = lines(("", "2019", "2018"), ("a", "$ 5", "$ 6"), ("b", "$ 7", "$ 9"), ("rate", "3%", "4%"))
    assert ("a", "b") in labels(found, across=False)
    assert not any("rate" in one for one in labels(found, across=False))


def test_balances_at_several_dates_are_a_line() -> None:
    found = lines(
        ("", "east", "west"),
        ("balance at december 31 2007", "10", "20"),
        ("additions", "1", "2"),
        ("balance at december 31 2008", "11", "22"),
    )
    assert ("2007", "2008") in labels(found, across=False)


def test_a_figure_keeps_its_sign_in_a_line_with_gains_and_losses() -> None:
    index = table_index(("", "2009", "2008"), ("net result", "-1250", "1480"), ("dividends paid", "-145", "-130"))
    assert {"-1250", "-145", "145", "130"} <= set(index.texts)
    assert "1250" not in index.texts
