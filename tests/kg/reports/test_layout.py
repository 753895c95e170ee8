"""What rows and columns stand for, in the kinds of tables that reports have."""

from __future__ import annotations

import pytest

from kg.reports import Report, ReportWords, TablePart, lines_of
from kg.reports.layout import analyse_table
from kg.reports.sentences import read_sentence

HEADER = "year ended june 30 2009 2008"


def _periods(*header: str) -> list[str | None]:
    row = tuple("x" if place == 0 else str(place) for place in range(len(header)))
    return [column.period for column in analyse_table((header, row, row)).columns]


def test_a_header_of_two_rows() -> None:
    layout = analyse_table((("", "2009", "2009"), ("", "shares", "price"), ("granted", "5", "$ 6.5")))
    assert layout.header_rows == 2
    assert layout.columns[2].label == "2009 price"
    assert layout.columns[2].period == "2009"


def test_a_header_spans_the_empty_cells_to_its_right() -> None:
    table = (("", "2009", "", "2008", ""), ("€m", "underlying", "total", "underlying", "total"), ("sales", *"1234"))
    columns = analyse_table(table).columns[1:]
    assert [column.label for column in columns][::3] == ["2009 underlying", "2008 total"]
    assert [column.period for column in columns] == ["2009", "2009", "2008", "2008"]


def test_a_header_of_years_alone_is_no_data() -> None:
    assert _periods("", "2017", "2018 - 2019", "2020 – 2024") == [None, "2017", "2018-2019", "2020-2024"]


def test_a_flattened_header_counts_the_years_down() -> None:
    assert _periods("2008", HEADER, HEADER, "year ended june 30 2009") == [None, "2009", "2008", "2007"]


def test_balances_rolled_forward_date_the_rows_between_them() -> None:
    labels = ("balance at january 1 2011", "increases", "balance at december 31 2011", "increases", "balance at 2012")
    layout = analyse_table(tuple((label, str(place)) for place, label in enumerate(labels, start=100)))
    assert [row.period for row in layout.rows] == ["2011", "2011", "2011", "2012", "2012"]


def test_a_first_column_of_data_has_no_labels() -> None:
    layout = analyse_table((("2009", "2008", "$ change"), ("$ 127.0", "$ 147.4", "-20.4")))
    assert not layout.labelled
    assert [column.period for column in layout.columns] == ["2009", "2008", None]


def test_a_header_may_hold_the_first_row_too() -> None:
    header = (
        "new jersey",
        "revenues ( in millions ) $ 652.3",
        "% (  % ) of total 24.5% ( 24.5 % )",
        "customers 648066",
    )
    layout = analyse_table((header, ("ohio", "605.4", "22.6% ( 22.6 % )", "666415")))
    assert layout.merged_header
    assert [column.label for column in layout.columns[1:]] == [
        "revenues ( in millions )",
        "% (  % ) of total",
        "customers",
    ]
    assert layout.data_rows == [0, 1]
    assert not layout.is_label(0, 1)


@pytest.mark.parametrize("dash", ["-", "–", "—"])
def test_an_amount_may_be_a_dash(dash: str) -> None:
    layout = analyse_table((("", "2009"), ("sales", f"$ {dash}"), ("cost", "7")))
    assert layout.unit(2, 1, *layout.figures(2, 1)) == "currency"
    assert [(one.value, one.unit) for one in layout.figures(1, 1)] == [(0, "currency")]
    assert not (pence := analyse_table((("", "2024"), ("eps", "14.0p")))).is_date_cell(1, 1, *pence.figures(1, 1))
    assert analyse_table((("accrual at june 1 2008", f"$ {dash}"), ("costs", "195.0"))).header_rows == 0
    assert not analyse_table((("due in", "$ 5"), ("2015", dash), ("2016", "7"))).is_section(1)


def test_every_figure_has_the_year_behind_it_or_before_it() -> None:
    behind = "there were 5.3 ships in 2013 compared to 4.9 that sailed in 2012 and 4.2 that sailed in 2011 ."
    before = "in 2013 there were 5.3 ships , and in 2012 as many as 4.9 of them ."
    assert [m.period for m in read_sentence(behind) if not m.is_date] == ["2013", "2012", "2011"]
    assert [m.period for m in read_sentence(before) if not m.is_date] == ["2013", "2012"]


def test_respectively_lists_are_aligned() -> None:
    mentions = read_sentence("net cash was $ 5 , $ 6 and $ 7 million in 2009 , 2008 and 2007 , respectively .")
    assert [(m.quantity.text, m.period, m.quantity.scale) for m in mentions[:3]] == [
        ("5", "2009", 10**6),
        ("6", "2008", 10**6),
        ("7", "2007", 10**6),
    ]
    assert all(mention.is_date for mention in mentions[3:])


def test_a_count_takes_no_unit_from_its_neighbours() -> None:
    layout = analyse_table(
        (
            ("( in millions )", "2009", "2008"),
            ("revenues", "$ 100", "$ 90"),
            ("costs", "80", "70"),
            ("gross margin", "20.0%", "22.2%"),
            ("net margin", "5", "4"),
            ("operating income", "300", "290"),
            ("number of employees", "50", "60"),
            ("gas sold ( bcf )", "597", "553"),
            ("gas sold ( million mcf )", "597", "553"),
        )
    )
    read = {
        layout.rows[row].label: (unit, layout.scale_of(row, 1, figure, unit))
        for row in layout.data_rows
        for figure in layout.figures(row, 1)
        for unit in [layout.unit(row, 1, figure)]
    }
    assert read == {
        "revenues": ("currency", 10**6),
        "costs": ("currency", 10**6),
        "gross margin": ("percent", 1),
        "net margin": ("percent", 1),
        "operating income": ("currency", 10**6),
        "number of employees": ("plain", 1),
        "gas sold ( bcf )": ("plain", 1),
        "gas sold ( million mcf )": ("plain", 10**6),
    }


ROWS = (("in millions", "2020", "2019"), *((f"item {number}", str(number), "1") for number in range(3_000)))


def _report() -> Report:
    named = [*ROWS]
    named[2_000] = ("net harbour fees", "7", "8")
    text = tuple(f"sentence {number} says little of anything ." for number in range(6_000))
    after = ("the harbour pension was $ 5 million .", *text)
    return Report("r", text, tuple(named), after)


def test_rows_and_sentences_that_share_words_are_kept_in_their_places() -> None:
    report = _report()
    found = ReportWords(report).excerpt(["what were the net harbour fees?"])
    assert found.table[2_000] == ("net harbour fees", "7", "8")
    assert found.table[0] == report.table[0]
    assert found.kept_rows is not None
    assert {0, 1, 1_998, 2_002, 3_000} <= set(found.kept_rows)
    assert len(found.table) == len(report.table)
    assert all(not any(row) for place, row in enumerate(found.table) if place not in found.kept_rows)
    assert found.post_text[0] == report.post_text[0]
    assert len(found.sentences) == len(report.sentences)
    assert sum(map(len, found.sentences)) <= 41_000


def test_what_earlier_answers_used_is_kept() -> None:
    rows, sentences = lines_of(["r2500c1", "s9000n0", "r7c2n1"])
    assert (rows, sentences) == ({2_500, 7}, {9_000})
    found = ReportWords(_report()).excerpt(["harbour fees?"], rows, sentences)
    assert found.table[2_500][0] == "item 2499"
    assert found.sentences[9_000]


def test_tables_without_a_kept_row_are_left_out() -> None:
    parts = tuple(TablePart(start) for start in range(0, 3_000, 10))
    report = Report("r", (), ROWS[:3_000], (), parts)
    found = ReportWords(report).excerpt(["item 2555?"])
    assert 2_550 in [start for start, _ in found.tables]
    assert len(found.tables) < len(parts)


def test_columns_of_a_wide_table_are_chosen_by_their_headers() -> None:
    head = ("item", *(f"region {number}" for number in range(3_000)))
    report = Report("r", (), (head, ("sales", *["1"] * 3_000), ("costs", *["2"] * 3_000)), ())
    found = ReportWords(report).excerpt(["what were the sales of region 2777?"])
    assert 2_778 in found.kept_columns
    assert len(found.kept_columns) <= 60
    [(start, part)] = found.tables
    assert found.place_of(start, 1, part.table[0].index("region 2777")) == (1, 2_778)
