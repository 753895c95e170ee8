"""Lines of a table: rows and columns of comparable figures without their totals."""

from __future__ import annotations

from collections.abc import Sequence

from kg.calculations.lines import TableLines
from kg.reports import build_ontology
from tests.kg.calculations.pages import table_index


def lines(*table: Sequence[str]) -> TableLines:
    return TableLines(table_index(*table, ontology=build_ontology([])))


def labels(found: TableLines, *, across: bool, extent: str | None = None) -> list[tuple[str, ...]]:
    return [one.labels for one in found.lines if one.across is across and extent in (None, one.extent)]


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
