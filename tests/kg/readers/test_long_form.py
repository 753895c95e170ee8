"""Tables in long form: one row a fact, or one row a period; in CSV, Excel and Parquet."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg.errors import DataError
from kg.readers import read_files
from kg.readers.own_report import OwnReport
from kg.reports import build_report_graph
from kg.reports.learning import build_ontology

FACTS = """item,period,value,unit,scale
Net sales,2024,391035,USD,millions
Net sales,2023,383285,USD,millions
Tax rate,2024,24.1,percent,
Tax rate,2023,14.7,percent,
"""
SEGMENTS = """Segment,Quarter,Revenue,Cost
Europe,Q1 2023,100,60
Europe,Q2 2023,110,61
Asia,Q1 2023,200,90
Asia,Q2 2023,205,95
"""


def _read(folder: Path, text: str) -> OwnReport:
    (folder / "a.csv").write_text(text, encoding="utf-8")
    return read_files([folder / "a.csv"])


def test_one_row_a_fact_with_units_and_scales(tmp_path: Path) -> None:
    own = _read(tmp_path, FACTS)
    assert own.report.table == (
        ("(in millions)", "2024", "2023"),
        ("Net sales", "$ 391035", "$ 383285"),
        ("Tax rate", "24.1%", "14.7%"),
    )
    graph = build_report_graph(own.report, build_ontology([own.report]))
    found = {(one.label, one.period): one for one in graph.observations if not one.in_header}
    sales, rate = found["Net sales", "2023"], found["Tax rate", "2024"]
    assert (sales.quantity.scale, sales.quantity.unit) == (1_000_000, "currency")
    assert (rate.quantity.scale, rate.quantity.unit) == (1, "percent")
    assert own.describe(sales.source) == 'a.csv, line 3, cell C3, row "Net sales", column "2023": [$ 383285]'


def test_one_row_a_quarter_with_several_measures(tmp_path: Path) -> None:
    assert _read(tmp_path, SEGMENTS).report.table == (
        ("", "Q1 2023", "Q2 2023"),
        ("Europe, Revenue", "100", "110"),
        ("Europe, Cost", "60", "61"),
        ("Asia, Revenue", "200", "205"),
        ("Asia, Cost", "90", "95"),
    )


@pytest.mark.parametrize(
    ("periods", "header"),
    [
        (("2023Q1", "2023Q2"), ("Q1 2023", "Q2 2023")),
        (("2023-01", "2023-02"), ("January 2023", "February 2023")),
        (("2023-12-31", "2022-12-31"), ("2023-12-31", "2022-12-31")),
    ],
)
def test_names_of_periods(tmp_path: Path, periods: tuple[str, str], header: tuple[str, str]) -> None:
    rows = [f"{item},{period},{number}" for item in ("Sales", "Cost") for number, period in enumerate(periods, start=5)]
    assert _read(tmp_path, "\n".join(["item,period,value", *rows])).report.table[0][1:] == header


def test_rows_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    text = "item,year,value\nSales,2024,5\nSales,2023,4\nSales,2024,6\n"
    with pytest.raises(DataError, match=r"line 2 and line 4 have the same labels \(Sales, 2024\)"):
        _read(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "Company,Founded,Sales\nA,1990,5\nB,1990,6\n",
        ",2024,2023\nSales,5,4\nCost,3,2\n",
        "year,sales,cost\n2024,5,4\n2023,3,2\n",
    ],
)
def test_other_tables_stay_as_they_are(tmp_path: Path, text: str) -> None:
    rows = tuple(tuple(line.split(",")) for line in text.splitlines())
    assert _read(tmp_path, text).report.table == rows
