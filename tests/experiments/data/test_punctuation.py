"""The repair of ConvFinQA's lost characters, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.data import read_report
from experiments.data.conversations import repaired_text
from kg.errors import DataError

PAGE: dict[str, Any] = {
    "id": "Single_ACME/2012/page_7.pdf-1",
    "pre_text": ["the company 2019s plans to acquire ( 201cacme 201d ) ."],
    "post_text": ["it paid 20ac3 million ."],
    "table": [["", "owned", "leased"], ["us 2014net", "40", "$ 2014"], ["the company 2019s", "2", "2013"]],
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the company 2019s", "the company’s"),
        ("r2 2019s plants", "r2’s plants"),
        ("o 2019reilly automotive", "o’reilly automotive"),
        ("we don 2019t", "we don’t"),
        ("the 201cnotes 201d at 20ac253 million", "the “notes” at €253 million"),
        ("( 2018 2018nyse 2019 2019 )", "( ‘nyse’ )"),
        ("january a0 2013 and a0debt", "january 2013 and debt"),
        ("25cf sales fffd 5", "• sales \ufffd 5"),
    ],
)
def test_codes_become_characters(text: str, expected: str) -> None:
    assert repaired_text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "in 2014 and 2013 , our 2014 sales fell to $ 2014 million",
        "income per share 2014basic",
        "gross decreases 2013 tax positions",
        "goldman sachs 2018 form 10-k",
        "2022 and thereafter",
        "the 2019 stock plan",
    ],
)
def test_years_and_figures_stay(text: str) -> None:
    assert repaired_text(text) == text


def test_the_texts_and_cells_of_a_page_are_repaired() -> None:
    report = read_report(PAGE)
    assert report.pre_text == ("the company’s plans to acquire ( “acme” ) .",)
    assert report.post_text == ("it paid €3 million .",)
    assert report.table[1:] == (("us 2014net", "40", "$ —"), ("the company’s", "2", "–"))


@pytest.mark.parametrize(
    "table",
    [
        [["", "amount", "maturity"], ["note a", "40", "2014"], ["note b", "2", "2013"]],
        [["", "opened", "size"], ["a", "2014", "5"], ["b", "2011", "6"]],
        [["", "2014", "2013"], ["sales", "5", "6"]],
        [["notes", "due"], ["a", "2014"]],
    ],
)
def test_years_in_cells_stay(table: list[list[str]]) -> None:
    assert [list(row) for row in read_report({**PAGE, "table": table}).table] == table


def test_other_reports_stay() -> None:
    assert read_report({**PAGE, "id": "my-report"}).pre_text == tuple(PAGE["pre_text"])


@pytest.mark.parametrize("change", [{"table": 5}, {"pre_text": None}, {"table": [5]}])
def test_a_page_of_another_shape_is_refused_as_any_report(change: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        read_report({**PAGE, **change})
