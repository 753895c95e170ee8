"""What a program sees of a document."""

from __future__ import annotations

import pytest

from kg.errors import DataError
from kg.reports.report import Report

RECORD = {
    "id": "A/1",
    "pre_text": ["one .", "two ."],
    "table": [["", "2009"], ["sales", "5"]],
    "post_text": ["three ."],
}


def test_a_record_becomes_a_report() -> None:
    report = Report.from_dict(RECORD)
    assert report == Report("A/1", ("one .", "two ."), (("", "2009"), ("sales", "5")), ("three .",))
    assert report.sentences == ("one .", "two .", "three .")
    assert hash(report) == hash(Report.from_dict(RECORD))


def test_short_rows_are_filled_up_so_that_every_cell_keeps_its_place() -> None:
    report = Report.from_dict({**RECORD, "table": [["", "2009", "2008"], ["sales", "5"], []]})
    assert report.table == (("", "2009", "2008"), ("sales", "5", ""), ("", "", ""))


@pytest.mark.parametrize("key", ["id", "pre_text", "table", "post_text"])
def test_a_missing_key_is_named(key: str) -> None:
    record = {name: value for name, value in RECORD.items() if name != key}
    with pytest.raises(DataError) as caught:
        Report.from_dict(record)
    place = "'?'" if key == "id" else "'A/1'"
    assert str(caught.value) == f"report {place}: {key}: Field required"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"table": "NaN"}, "report 'r': table: .*list"),
        ({"table": [5]}, "table.0: .*list"),
        ({"table": [[["x"]]]}, "table.0.0"),
        ({"post_text": [None]}, "post_text.0: .*string"),
        ({"id": ["x"]}, "id"),
        ({"pre_text": ["\ud800"]}, "pre_text.0: .*surrogates"),
        ({"table": [["1"] * 200] * 2_000}, "has 400000 cells; at most 300000"),
        ({"post_text": ["word " * 1_200_000]}, "has 6000000 characters; at most 5000000"),
    ],
)
def test_a_record_of_another_shape_is_refused(change: dict[str, object], message: str) -> None:
    record = {"id": "r", "pre_text": [], "table": [["", "2008"], ["revenue", "5"]], "post_text": []}
    assert Report.from_dict({**record, "table": [[None, 2008], ["x", 5.5]]}).table == (("", "2008"), ("x", "5.5"))
    with pytest.raises(DataError, match=message):
        Report.from_dict({**record, **change})
