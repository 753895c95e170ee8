"""Excerpts of large reports."""

from __future__ import annotations

from kg.reports import Report, ReportWords, TablePart, lines_of

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
    rows, sentences = lines_of(["r2500c1", "s9000n0", "defined:gross profit:1", "r7c2n1"])
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
