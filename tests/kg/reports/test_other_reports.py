"""Reports of kinds that no training file has: each builds, conforms to the shapes, and says what it says."""

from __future__ import annotations

from itertools import chain

import pytest

from kg.reports.graph import ReportGraph, build_report_graph
from kg.reports.layout import analyse_table
from kg.reports.learning import build_ontology
from kg.reports.observation import CellSource, Observation
from kg.reports.queries import can_validate, violations
from kg.reports.report import Report
from kg.text.number_formats import english_sentence
from kg.text.quantities import find_quantities

ONTOLOGY = build_ontology([Report("train", (), (("", "2009"), ("net income", "$ 5"), ("sales", "7")), ())])

REPORTS = {
    "german": Report(
        "german",
        ("der umsatz betrug 1.234.567,89 euro in 2019 .",),
        (
            ("in tsd. €", "31.12.2019", "31.12.2018"),
            ("umsatz", "1.234.567,89", "(1.100.000,50)"),
            ("kosten", "12.345", "10.000"),
            ("marge", "4,5 %", "3,9 %"),
        ),
        (),
    ),
    "quarters": Report("q", (), (("", "Q1 2020", "Q2 2020", "Q1 2019"), ("revenue", "$ 5", "$ 6", "$ 4")), ()),
    "quarters in a second row": Report(
        "q2", (), (("", "2020", "2020", "2019"), ("", "Q1", "Q2", "Q1"), ("revenue", "5", "6", "4")), ()
    ),
    "no table": Report("e", ("revenue was $ 5 million in 2009 .",), (), ()),
    "one cell": Report("o", (), (("42",),), ()),
    "minus signs": Report("m", (), (("", "2009", "2008"), ("net income", "−5", "–6.5"), ("change", "‑3", "$ −7")), ()),
    "footnote marks": Report(
        "f",
        (),
        (("", "2009 (1)", "2008 ( 2 )"), ("net income ( 2 )", "$ 5 ( a )", "6*"), ("sales (b)", "7†", "1,234¹")),
        (),
    ),
    "sections and totals": Report(
        "s",
        (),
        (
            ("( in millions )", "2009"),
            ("assets:", ""),
            ("cash", "5"),
            ("total", "5"),
            ("liabilities:", ""),
            ("total", "1"),
        ),
        (),
    ),
    "no year": Report("y", (), (("segment", "revenue", "share"), ("north", "$ 5", "50%"), ("south", "$ 6", "40%")), ()),
    "india": Report(
        "i", (), (("particulars", "31-mar-2021", "31-mar-2020"), ("net profit", "1,23,456.78", "(98,765.40)")), ()
    ),
    "france": Report("fr", (), (("m€", "2021", "2020"), ("ventes", "1 234 567", "9 876,5")), ()),
    "not available": Report("na", (), (("", "2021", "2020"), ("sales", "n/a", "—"), ("leverage", "nm", "1.5x")), ()),
}
PATHS = {
    "german": [
        "_2019 -> umsatz -> 1234567.89",
        "_2018 -> umsatz -> -1100000.50",
        "_2019 -> kosten -> 12345",
        "_2018 -> kosten -> 10000",
        "_2019 -> marge -> 4.5%",
        "_2018 -> marge -> 3.9%",
    ],
    "quarters": ["_2020_q1_2020 -> revenue -> 5", "_2020_q2_2020 -> revenue -> 6", "_2019 -> revenue -> 4"],
    "quarters in a second row": ["_2020_q1 -> revenue -> 5", "_2020_q2 -> revenue -> 6", "_2019 -> revenue -> 4"],
    "no table": [],
    "one cell": ["_column_0 -> reported_figure -> 42"],
    "minus signs": [
        "_2009 -> net_income -> -5",
        "_2008 -> net_income -> -6.5",
        "_2009 -> change -> -3",
        "_2008 -> change -> -7",
    ],
    "footnote marks": [
        "_2009 -> net_income -> 5",
        "_2008 -> net_income -> 6",
        "_2009 -> sales -> 7",
        "_2008 -> sales -> 1234",
    ],
    "sections and totals": ["_2009 -> cash -> 5", "_2009 -> total -> 5", "_2009 -> total -> 1"],
    "no year": ["_revenue -> north -> 5", "_share -> north -> 50%", "_revenue -> south -> 6", "_share -> south -> 40%"],
    "india": ["_2021 -> net_profit -> 123456.78", "_2020 -> net_profit -> -98765.40"],
    "france": ["_2021 -> ventes -> 1234567", "_2020 -> ventes -> 9876.5"],
    "not available": ["_2020 -> leverage -> 1.5"],
}


def _graph(name: str) -> ReportGraph:
    return build_report_graph(REPORTS[name], ONTOLOGY)


def _cells(graph: ReportGraph) -> list[Observation]:
    return [o for o in graph.observations if isinstance(o.source, CellSource) and not o.in_header]


@pytest.mark.parametrize("name", PATHS)
def test_every_figure_has_its_period_line_item_and_value(name: str) -> None:
    observations = _cells(_graph(name))
    assert [o.path.removeprefix(o.entity_type) for o in observations] == PATHS[name]


def test_sections_tell_equal_totals_apart() -> None:
    assert [o.section for o in _cells(_graph("sections and totals"))] == ["assets", "assets", "liabilities"]
    rows = (("", "2024"), ("cost", ""), ("fuel", "1"), ("valves", ""), ("cost", ""), ("fuel", "2"))
    assert analyse_table(rows).sections[2:] == ("cost", "", "", "valves cost")


def test_text_is_read_without_a_table_and_in_its_own_style() -> None:
    (figure,) = [o for o in _graph("no table").observations if not o.in_header]
    assert (figure.quantity.text, figure.quantity.scale, figure.period) == ("5", 10**6, "2009")
    figure = next(o for o in _graph("german").observations if o.id == "s0n0")
    assert (figure.quantity.text, figure.quantity.unit) == ("1234567.89", "currency")


@pytest.mark.parametrize("name", REPORTS)
def test_every_span_is_the_figure(name: str) -> None:
    report, graph = REPORTS[name], _graph(name)
    table = analyse_table(report.table).table
    for observation in graph.observations:
        source = observation.source
        written = (
            table[source.row][source.column]
            if isinstance(source, CellSource)
            else english_sentence(report.sentences[source.sentence])
        )
        (again,) = find_quantities(written[source.start : source.end])
        assert abs(again.value) == abs(observation.quantity.value)


@pytest.mark.skipif(not can_validate(), reason="pyshacl is not installed")
def test_all_conform_to_the_shapes() -> None:
    assert list(chain.from_iterable(violations(_graph(name).graph) for name in REPORTS)) == []
