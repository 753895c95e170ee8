"""Tables and text of one's own: read from every kind of file, each figure with its file, sheet and cell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import main as cli
from kg.errors import ConfigError, DataError
from kg.readers import OwnReport, read_files
from kg.readers.content import Place
from kg.reports.graph import build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.observation import CellSource

INCOME = """"Income statement (in millions)",,
,2020,2019
Net sales,"$ 4,120","$ 3,980"
Income taxes,(95),(88)
Net income,402,371
"Figures of 2019 were restated after the sale of a business.",,
"""
NOTES = """# Notes

The company had 1,250 employees at the end of 2020. It opened
14 stores in 2020.

| Segment | 2020 | 2019 |
|---|---|---|
| Europe | 1,900 | 1,850 |
| **Asia** | 2,220 | 2,130 |

| a | b |
|---|---|
| x | y |
"""
PAGE = """<html><body><h1>Annual report</h1>
<p>Dividends were $ 12 million in 2020.</p>
<table><caption>In thousands</caption>
<tr><th rowspan="2"></th><th colspan="2">Year</th></tr>
<tr><th>2020</th><th>2019</th></tr>
<tr><td>Basic shares</td><td>198.5</td><td>199.1</td></tr></table>
<table><tr><td><table><tr><td>one</td></tr></table></td></tr></table>
</body></html>"""


def _file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def _workbook(folder: Path) -> str:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "Balance"
    for row in (["in thousands", 2020, 2019], ["Cash", 118251, 104222], ["Tax rate", 0.193, 0.187], ["Debt", "=B2", 5]):
        sheet.append(row)
    sheet["B2"].number_format = '"$"#,##0.00'
    sheet["B3"].number_format = sheet["C3"].number_format = "0.0%"
    book.create_sheet("Empty")
    book.save(folder / "balance.xlsx")
    return str(folder / "balance.xlsx")


def _described(own: OwnReport) -> dict[str, str]:
    graph = build_report_graph(own.report, build_ontology([own.report]))
    return {f"{one.path} ({one.quantity.unit})": own.describe(one.source) for one in graph.observations}


def test_a_csv_file_with_title_and_note(tmp_path: Path) -> None:
    own = read_files([_file(tmp_path, "income.csv", INCOME)])
    assert own.report.table[0] == ("", "2020", "2019")
    assert own.report.sentences == (
        "Income statement (in millions)",
        "Figures of 2019 were restated after the sale of a business.",
    )
    assert own.problems == ()
    found = _described(own)
    place = next(text for path, text in found.items() if "-> net_sales -> 4120 (currency)" in path)
    assert place == 'income.csv, line 3, cell B3, row "Net sales", column "2020": [$ 4,120]'
    assert any("-> income_taxes -> -88" in path for path in found)
    graph = build_report_graph(own.report, build_ontology([own.report]))
    assert {one.quantity.scale for one in graph.observations if one.label == "Net sales" and not one.in_header} == {
        1_000_000
    }


def test_a_workbook_s_cells_as_they_are_shown(tmp_path: Path) -> None:
    own = read_files([_workbook(tmp_path)])
    assert own.report.table[1] == ("Cash", "$ 118251.00", "104222")
    assert own.report.table[2] == ("Tax rate", "19.3%", "18.7%")
    assert own.problems == (
        'balance.xlsx, sheet "Balance", cell B4: holds a formula without its result; open and save the file in Excel',
    )
    text = next(text for path, text in _described(own).items() if "-> 19.3% (percent)" in path)
    assert text == 'balance.xlsx, sheet "Balance", cell B3, row "Tax rate", column "2020": [19.3%]'


def test_markdown_and_what_is_no_table_in_it(tmp_path: Path) -> None:
    pytest.importorskip("markdown_it")
    own = read_files([_file(tmp_path, "notes.md", NOTES)])
    assert own.report.sentences == (
        "Notes",
        "The company had 1,250 employees at the end of 2020.",
        "It opened 14 stores in 2020.",
    )
    assert own.report.table[2] == ("Asia", "2,220", "2,130")
    assert own.place(CellSource(1, 2, 0, 5)) == Place("notes.md", 8, "table 1", "C2")
    assert own.problems == (
        "notes.md, table 2, line 11: is no table of figures: no cell right of the labels holds a number",
    )
    text = next(text for path, text in _described(own).items() if path.endswith("-> 1250 (plain)"))
    assert text.startswith("notes.md, line 3: The company had [1,250] employees")


def test_html_with_spans_and_a_table_for_layout(tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    own = read_files([_file(tmp_path, "page.html", PAGE)])
    assert own.report.table == (("", "Year 2020", "Year 2019"), ("Basic shares", "198.5", "199.1"))
    assert own.report.sentences == ("Annual report", "Dividends were $ 12 million in 2020.", "one")
    assert own.place(CellSource(1, 2, 0, 5)) == Place("page.html", 6, "table 1", "C3")
    assert own.problems == ()


def test_a_table_of_spaces_in_a_plain_text(tmp_path: Path) -> None:
    table = "Income (US$ million)\n\n              2020     2021\nCopper       612.4    874.1\n"
    rest = "             -----    -----\nTax          (4.1)        -\n\nWe mined  12 ores\nin 2020.\n"
    path = _file(tmp_path, "a.txt", table + rest)
    own = read_files([path])
    assert own.report.table == (("", "2020", "2021"), ("Copper", "612.4", "874.1"), ("Tax", "(4.1)", "-"))
    assert own.report.sentences == ("Income (US$ million)", "We mined 12 ores in 2020.")
    assert own.place(CellSource(2, 1, 0, 5)) == Place("a.txt", 6, "")
    tabs = read_files([_file(tmp_path, "b.txt", "Revenue\t2020\t2019\nSales\t5\t4\n")])
    assert tabs.report.table[1] == ("Sales", "5", "4")


def test_a_scale_above_several_titles_and_a_column_of_prose(tmp_path: Path) -> None:
    text = "EUR m,\nGroup accounts,\nAlpha plc,\nUnaudited,\n,2020\nSales,5\n"
    prose = _file(tmp_path, "b.csv", "Comments\nThe group had 1846 employees in 2020.\n")
    own = read_files([_file(tmp_path, "a.csv", text), prose])
    sales = build_report_graph(own.report, build_ontology([own.report])).observations[1]
    assert (sales.label, sales.quantity.scale, own.problems) == ("Sales", 1_000_000, ())
    assert own.report.sentences[-1] == "The group had 1846 employees in 2020."


def test_several_tables_are_one_report_and_keep_their_own_headers(tmp_path: Path) -> None:
    second = "in thousands,2018,2017\nCash,7,8\n"
    files = [_file(tmp_path, "income.csv", INCOME), _file(tmp_path, "balance.csv", second)]
    own = read_files([*files, _file(tmp_path, "more.txt", "We sold 12 ships in 2020.\n\nAnd 3 planes.")])
    assert [start for start, _ in own.report.tables] == [0, 4]
    graph = build_report_graph(own.report, build_ontology([own.report]))
    cash = {one.period: one for one in graph.observations if one.label == "Cash"}
    assert set(cash) == {"2018", "2017"}
    assert {one.quantity.scale for one in cash.values()} == {1000}
    assert own.describe(cash["2017"].source) == 'balance.csv, line 2, cell C2, row "Cash", column "2017": [8]'
    assert len({one.id for one in graph.observations}) == len(graph.observations)
    sources = {own.describe(one.source).partition(",")[0] for one in graph.observations}
    assert sources == {"income.csv", "balance.csv", "more.txt"}


@pytest.mark.parametrize("head", [";2025 £000;2024 £000", "|2025 £000|2024 £000", "\t2025\t2024\n\t£000\t£000"])
def test_separators_and_a_unit_with_the_years_or_below_them(tmp_path: Path, head: str) -> None:
    own = read_files([_file(tmp_path, "a.csv", head + head[0].join(["\nnet, of tax", "1,5", "2,5\n"]))])
    figures = build_report_graph(own.report, build_ontology([own.report])).observations
    found = [(one.period, one.quantity.text, one.quantity.scale) for one in figures if one.label == "net, of tax"]
    assert found == [("2025", "1.5", 1000), ("2024", "2.5", 1000)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_other_encodings_are_read_and_a_doubtful_one_is_said(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "guv.csv"
    path.write_text("Posten;2024\nJahresüberschuss;98,75\n", encoding=encoding)
    own = read_files([path])
    assert own.report.table[1] == ("Jahresüberschuss", "98,75")
    said = ("guv.csv: line 2 is not UTF-8, so the file is read as Windows-1252",) if encoding == "cp1252" else ()
    assert own.problems == said


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", b'a,b\n"x,1\n', r"a\.csv: line 2: cannot be read as a table"),
        ("a.csv", b"a,b\nx,\xff\x00\n", r"a\.csv: line 2: must be text in UTF-8, UTF-16 or Windows-1252"),
        ("a.csv", b"", r"a\.csv: hold neither a table nor text"),
        ("a.csv", b"one\ntwo\n", r"hold neither a table nor text: a\.csv, line 1: is no table: it has 1 column"),
        ("a.csv", b"a,b\nx,y\n", r"a\.csv, line 1: is no table of figures"),
        ("a.csv", b"a,2020\n", r"a\.csv, line 1: is no table: it has 1 row, it must have 2"),
        ("a.xlsx", b"PK nonsense", r"a\.xlsx: cannot be read as an Excel workbook"),
        ("a.docx", b"", r"a\.docx: must end in one of \.csv"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_files([tmp_path / name])


def test_a_library_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ConfigError, match=r"needs openpyxl, which is not installed: pip install openpyxl"):
        read_files([_file(tmp_path, "a.xlsx", "")])


def test_asking_about_files(tmp_path: Path, tracking_uri: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = [_file(tmp_path, "income.csv", INCOME), _file(tmp_path, "notes.txt", "We had 12 ships in 2020.")]
    out = tmp_path / "out.json"
    assert cli.main(["ask", *files, "what were net sales in 2020?", "and in 2019?", "--json", str(out)]) == 0
    turns = json.loads(out.read_text())["turns"]
    assert [turn["answer"] for turn in turns] == ["4120", "3980"]
    assert turns[1]["sources"] == ['income.csv, line 3, cell C3, row "Net sales", column "2019": [$ 3,980]']
    assert cli.main(["ask", *files]) in (1, 2)
    assert cli.main(["ask", str(tmp_path / "none.csv"), "what?"]) == 1
    assert "none.csv: no such file" in capsys.readouterr().err
