"""HTML as companies file it: spans, signs in cells of their own, scales above the table, inline XBRL."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg.readers import read_files
from kg.reports import ReportGraph, build_report_graph
from kg.reports.learning import build_ontology

FACTS = """<div style="display:none"><ix:header><ix:hidden>
<ix:nonNumeric name="dei:DocumentFiscalYearFocus" contextRef="c1">{focus}</ix:nonNumeric>
<ix:nonNumeric name="dei:DocumentPeriodEndDate" contextRef="c1">February 3, 2024</ix:nonNumeric></ix:hidden>
<ix:resources><xbrli:context id="c1"><xbrli:period><xbrli:startDate>2023-01-29</xbrli:startDate>
<xbrli:endDate>2024-02-03</xbrli:endDate></xbrli:period></xbrli:context>
<xbrli:context id="c0"><xbrli:entity><xbrli:segment>
<xbrldi:explicitMember dimension="a:Axis">a:Europe</xbrldi:explicitMember>
</xbrli:segment></xbrli:entity><xbrli:period><xbrli:instant>2023-01-28</xbrli:instant></xbrli:period></xbrli:context>
<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>
<xbrli:unit id="eps"><xbrli:divide><xbrli:unitNumerator><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unitNumerator>
<xbrli:unitDenominator><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unitDenominator></xbrli:divide></xbrli:unit>
</ix:resources></ix:header></div>"""

FILED = """<?xml version='1.0' encoding='ASCII'?>
<html><head><title>10-K</title></head><body>{facts}
<div><span>CONSOLIDATED STATEMENTS</span></div><div><span>{note}</span></div>
<table><tr><td></td>
<td></td>
<td></td></tr>
<tr><td colspan="3"></td>
<td colspan="7">Years ended</td></tr>
<tr><td colspan="3">{corner}</td>
<td colspan="3">January&#160;31,<br/>2024</td>
<td></td>
<td colspan="3">January 31,<br/>2023</td></tr>
<tr><td colspan="3">Net sales:</td>
<td colspan="7"></td></tr>
<tr><td colspan="3">Total net sales<sup>(1)</sup></td>
<td>$</td>
<td>{one}</td><td></td><td></td>
<td>$</td>
<td>383</td>
<td></td></tr>
<tr><td colspan="3">Other expense, net</td>
<td colspan="2">269</td><td></td><td></td>
<td colspan="2">(565</td>
<td>)</td></tr>
<tr><td colspan="3">Gross margin</td>
<td colspan="2">46.2</td>
<td>%</td>
<td></td>
<td colspan="2">44.1</td>
<td>%</td></tr>
<tr><td colspan="3">Price</td>
<td>$</td>
<td>1987</td><td></td><td></td>
<td>$</td>
<td>2,013</td>
<td>(a)</td></tr>
</table>
<table><tr><td>&#8226;</td><td>We opened 12 stores.</td></tr></table></body></html>"""


def _graph(folder: Path, *, note: str = "", facts: str = "", corner: str = "", one: str = "391") -> ReportGraph:
    page = folder / "filed.html"
    page.write_text(FILED.format(note=note, facts=facts, corner=corner, one=one), encoding="utf-8")
    report = read_files([page]).report
    return build_report_graph(report, build_ontology([report]))


def _found(graph: ReportGraph) -> dict[tuple[str, str | None], tuple[str, str, int]]:
    return {
        (one.label, one.period): (one.quantity.text, one.quantity.unit, one.quantity.scale)
        for one in graph.observations
        if not one.in_header
    }


def test_spans_and_signs_of_a_filed_table(tmp_path: Path) -> None:
    graph = _graph(tmp_path, note="(In millions, except per-share amounts)")
    assert graph.report.table[0] == ("", "Years ended January 31, 2024", "Years ended January 31, 2023")
    assert graph.report.table[1:] == (
        ("Net sales:", "", ""),
        ("Total net sales", "$ 391", "$ 383"),
        ("Other expense, net", "269", "(565)"),
        ("Gross margin", "46.2%", "44.1%"),
        ("Price", "$ 1987", "$ 2,013"),
    )
    found = _found(graph)
    assert found["Total net sales", "2024"] == ("391", "currency", 1_000_000)
    assert found["Total net sales", "2023"] == ("383", "currency", 1_000_000)
    assert found["Other expense, net", "2023"] == ("-565", "currency", 1_000_000)
    assert found["Gross margin", "2023"] == ("44.1%", "percent", 1)
    assert graph.report.sentences[-1] == "We opened 12 stores."


@pytest.mark.parametrize(
    ("note", "corner", "scale"),
    [
        ("(in thousands)", "", 1_000),
        ("All figures are in millions of dollars.", "", 1_000_000),
        ("Amounts in £m", "", 1_000_000),
        ("", "(in billions)", 1_000_000_000),
        ("", "($000)", 1_000),
        ("Results of the year", "", 1),
    ],
)
def test_a_scale_above_the_table_or_in_its_corner(tmp_path: Path, note: str, corner: str, scale: int) -> None:
    assert _found(_graph(tmp_path, note=note, corner=corner))["Total net sales", "2024"][2] == scale


def test_facts_of_inline_xbrl_win_over_the_layout(tmp_path: Path) -> None:
    fact = '<ix:nonFraction name="us-gaap:Revenues" contextRef="c1" unitRef="usd" scale="6">391</ix:nonFraction>'
    graph = _graph(tmp_path, note="(in thousands)", facts=FACTS.format(focus="2023"), one=fact)
    stated = next(one for one in graph.observations if one.quantity.text == "391")
    assert (stated.period, stated.quantity.scale, stated.quantity.unit) == ("2023", 1_000_000, "currency")
    assert stated.entity.endswith("_2023")
    other = next(one for one in graph.observations if one.quantity.text == "269")
    assert (other.period, other.quantity.scale) == ("2024", 1_000)


def test_a_dash_that_the_file_states_as_zero_is_zero(tmp_path: Path) -> None:
    fact = '<ix:nonFraction name="us-gaap:X" contextRef="c1" unitRef="usd" format="ixt:fixed-zero">—</ix:nonFraction>'
    graph = _graph(tmp_path, facts=FACTS.format(focus="2023"), one=fact)
    [stated] = [one for one in graph.observations if one.quantity.value == 0]
    assert (stated.period, stated.quantity.unit) == ("2023", "currency")


def test_a_table_with_a_second_header_is_two_tables(tmp_path: Path) -> None:
    rows = [("", "2024", "2023"), ("Sales", "5", "4"), ("", "2022", "2021"), ("Sales", "3", "2")]
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    page = tmp_path / "a.html"
    page.write_text(f"<p>(in millions)</p><table>{cells}</table>", encoding="utf-8")
    report = read_files([page]).report
    assert [start for start, _ in report.tables] == [0, 2]
    found = _found(build_report_graph(report, build_ontology([report])))
    assert found["Sales", "2021"] == ("2", "plain", 1_000_000)
    assert found["Sales", "2024"] == ("5", "plain", 1_000_000)
    head = "<td></td><td colspan=2>2024</td><td colspan=2>2023</td><td colspan=2>2022</td></tr><tr><td>Loss</td>"
    (tmp_path / "b.html").write_text(f"<table><tr>{head}{'<td></td><td>$</td><td>(5</td><td>)</td>' * 3}</tr></table>")
    assert read_files([tmp_path / "b.html"]).report.table[0] == ("", "2024", "2023", "2022")  # spans that do not fit
