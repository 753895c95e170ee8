"""Series of cells: what two figures of a report mean together."""

from __future__ import annotations

import pytest

from kg.calculations.report_index import ReportIndex
from kg.calculations.series import SeriesReader
from kg.reports import build_ontology
from kg.search.derivation import Derivation
from tests.kg.calculations.pages import table_index

TABLE = (
    ("", "2017", "2018", "2019"),
    ("east", "$ 10", "$ 12", "$ 11"),
    ("west", "$ 20", "$ 21", "$ 30"),
    ("share of the east", "33.3%", "36.4%", "26.8%"),
)
TEXT = ("amortization was $ 1.5 million in 2019 , $ 1.0 million in 2018 and $ 0.4 million in 2017 .",)


@pytest.fixture(scope="module")
def index() -> ReportIndex:
    return table_index(*TABLE, text=TEXT, ontology=build_ontology([]))


def item(index: ReportIndex, text: str) -> int:
    return next(
        place
        for place, (own, base) in enumerate(zip(index.texts, index.base, strict=True))
        if own == text and not index.observations[base].in_header
    )


def program(index: ReportIndex, operation: str, first: str, second: str, count: int = 1) -> str | None:
    found = SeriesReader(index).derivation(operation, item(index, first), item(index, second), count)
    return None if found is None else str(found)


def test_a_run_of_a_row_is_added_and_averaged(index: ReportIndex) -> None:
    assert program(index, "sum_of", "10", "11") == "add(10, 12), add(#0, 11)"
    assert program(index, "average_of", "11", "10") == "add(10, 12), add(#0, 11), divide(#1, const_3)"
    assert program(index, "max_of", "20", "30") == "max(20, 21, 30)"


def test_a_sentence_that_lists_figures_is_a_run(index: ReportIndex) -> None:
    assert program(index, "sum_of", "1.5", "0.4") == "add(1.5, 1.0), add(#0, 0.4)"
    assert program(index, "argmin", "1.5", "0.4") == 'argmin("2019"=1.5, "2018"=1.0, "2017"=0.4)'


def test_names_are_of_the_axis_on_which_the_cells_differ(index: ReportIndex) -> None:
    assert program(index, "argmax", "10", "11") == 'argmax("2017"=10, "2018"=12, "2019"=11)'
    assert program(index, "argmax_pair", "10", "20") == 'argmax("east"=10, "west"=20)'
    assert program(index, "argmax", "20", "30", 2) == 'argmax(const_2, "2017"=20, "2018"=21, "2019"=30)'


def test_changes_go_from_cell_to_cell_or_from_corner_to_corner(index: ReportIndex) -> None:
    steps = 'argmax_difference("2018"=(21, 20), "2019"=(30, 21))'
    assert program(index, "argmax_difference", "20", "30") == steps
    assert program(index, "argmax_change", "10", "30") == 'argmax_change("east"=(11, 10), "west"=(30, 20))'


def test_figures_that_are_the_ends_of_no_run_make_no_series(index: ReportIndex) -> None:
    assert program(index, "sum_of", "10", "30") is None, "other row and other column"
    assert program(index, "sum_of", "10", "12") is None, "two figures are a sum of two"
    assert program(index, "max_of", "11", "26.8") is None, "another unit"
    assert program(index, "sum_of", "10", "1.5") is None, "a cell and a sentence"


@pytest.mark.parametrize(
    ("gold", "form"),
    [
        ("add(12, 10), add(11, #0)", "sum_of(A, A)"),
        ("sum(10, 12, 11)", "sum_of(A, A)"),
        ("add(10, 12), add(#0, 11), divide(#1, const_3)", "average_of(A, A)"),
        ('argmax("east"=10, "west"=20)', "argmax(A, A)"),
        ('argmax_change("east"=(11, 10), "west"=(30, 20))', "argmax_change(A, A)"),
    ],
)
def test_gold_calculations_are_read_back(index: ReportIndex, gold: str, form: str) -> None:
    found = SeriesReader(index).collapse(Derivation.parse(gold))
    assert found is not None
    assert found.form == form


def test_compound_growth_is_over_the_years_between_two_periods(index: ReportIndex) -> None:
    steps = "divide(11, 10), divide(const_1, const_2), exp(#0, #1), subtract(#2, const_1)"
    assert program(index, "compound_growth", "11", "10") == steps
    assert program(index, "compound_growth", "12", "10") is None, "one year apart"
    assert program(index, "compound_growth", "10", "11") is None, "backwards"
    read = SeriesReader(index).collapse(Derivation.parse(steps))
    assert read is not None
    assert (read.form, [str(one) for one in read.operands]) == ("compound_growth(A, A)", ["11", "10"])
