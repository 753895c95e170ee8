"""The repair of ConvFinQA's lost characters, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.data import read_report
from experiments.data.conversations import repaired, repaired_text
from kg.errors import DataError

PAGE: dict[str, Any] = {
    "id": "Single_ACME/2012/page_7.pdf-1",
    "pre_text": ["the company 2019s plans to acquire ( 201cacme 201d ) ."],
    "post_text": ["it paid 20ac3 million ."],
    "table": [["", "owned", "leased"], ["us 2014net", "40", "$ 2014"], ["canada", "2", "2013"]],
    "annotation": {"dialogue_break": ["what were the company 2019s total 2014 sales?"], "turn_program": ["2014"]},
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


def test_a_page_is_repaired_but_for_its_gold() -> None:
    found = repaired(PAGE)
    assert found["pre_text"][0] == "the company’s plans to acquire ( “acme” ) ."
    assert found["post_text"] == ["it paid €3 million ."]
    assert found["table"] == [["", "owned", "leased"], ["us 2014net", "40", "$ —"], ["canada", "2", "–"]]
    assert found["annotation"] == {
        "dialogue_break": ["what were the company’s total 2014 sales?"],
        "turn_program": ["2014"],
    }


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
    assert repaired({**PAGE, "table": table})["table"] == table


@pytest.mark.parametrize(
    "change", [{"id": "my-report"}, {"post_text": ["plans cost €5 ."]}, {"table": [[None, "2014"]]}]
)
def test_other_reports_stay(change: dict[str, Any]) -> None:
    record = {**PAGE, **change}
    assert repaired(record) == record


def test_ragged_tables_have_dashes() -> None:
    header = ["( in millions )", "payments due by period total", "payments due by period 1-3 years"]
    table = [header, ["debt", "$ 620.0", "70.0"], ["rigs", "88.9", "2014"], ["all"]]
    assert repaired({**PAGE, "table": table})["table"][2:] == [["rigs", "88.9", "—"], ["all"]]
    assert read_report(PAGE).table[2][2] == "–", "reports are read repaired"


@pytest.mark.parametrize("change", [{"table": 5}, {"pre_text": None}, {"table": [5]}])
def test_a_page_of_another_shape_is_refused_as_any_report(change: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        read_report({**PAGE, **change})
    assert read_report({**PAGE, "annotation": {"dialogue_break": 5}}) == read_report(PAGE)
