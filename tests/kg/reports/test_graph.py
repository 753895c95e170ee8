"""Reports and their graphs: what they hold, that they are frozen, that every kind builds, and queries of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import Graph

from experiments.console import SAMPLE_FOLDER
from experiments.data import read_report
from kg.errors import DataError, FrozenError, QueryError
from kg.reports import query_report
from kg.reports.graph import ReportGraph, build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.ontology import Ontology
from kg.reports.queries import violations
from kg.reports.report import Report
from kg.reports.vocabulary import REPORTS

REPORT = Report(
    id="ACME/2009/page_3.pdf",
    pre_text=("amounts in thousands .",),
    table=(
        ("", "year ended june 30 , 2009", "2008"),
        ("operating activities:", "", ""),
        ("net cash from operating activities", "$ 206588", "$ 181001"),
        ("change in receivables", "21214", "-2913 ( 2913 )"),
        ("free cash flow margin", "4.00%", "—"),
    ),
    post_text=("cash was $ 118.2 million and $ 65.6 million in 2009 and 2008 , respectively .",),
)
ONTOLOGY = build_ontology([REPORT])


def _graph(report: Report = REPORT, ontology: Ontology = ONTOLOGY) -> ReportGraph:
    return build_report_graph(report, ontology)


def test_instances_properties_and_values_are_plain_triples() -> None:
    graph = _graph()
    query = "SELECT ?v WHERE { ?e a kg:CashFlow ; kg:year '2009' ; kg:net_cash_from_operating_activities ?v }"
    assert [str(row[0]) for row in graph.graph.query(query)] == ["206588"]


def test_observations_carry_what_a_search_needs() -> None:
    by_id = {observation.id: observation for observation in _graph().observations}
    cell = by_id["r2c1"]
    assert cell.label == "net cash from operating activities"
    assert cell.column_label == "year ended june 30 , 2009"
    assert (cell.section, cell.period, cell.mapped, cell.in_header) == ("operating activities", "2009", True, False)
    assert (cell.quantity.unit, cell.quantity.scale) == ("currency", 1000)
    percent = by_id["r4c1"].quantity
    assert (percent.text, percent.unit, percent.scale) == ("4.00%", "percent", 1)
    text = by_id["s1n1"]
    assert (text.period, text.quantity.text, text.quantity.scale, text.entity) == (
        "2008",
        "65.6",
        10**6,
        "Disclosure_2008",
    )
    assert by_id["r0c1"].in_header
    assert by_id["s1n2"].in_header


def test_a_frozen_graph_refuses_every_kind_of_write() -> None:
    graph = _graph().graph
    triple = next(iter(graph))
    before = set(graph)
    with pytest.raises(FrozenError, match=r"the graph of report 'ACME/2009/page_3.pdf' is frozen"):
        graph.add(triple)
    with pytest.raises(FrozenError):
        graph.update("INSERT DATA { <urn:a> <urn:b> <urn:c> }")
    assert set(graph) == before


def test_unmapped_rows_are_kept_and_counted() -> None:
    graph = _graph(ontology=build_ontology([]))
    assert graph.unmapped == ("net cash from operating activities", "change in receivables", "free cash flow margin")
    assert graph.coverage == 0
    cell = next(observation for observation in graph.observations if observation.id == "r2c1")
    assert not cell.mapped
    item = f"<{REPORTS}ACME/2009/page_3.pdf/items#net_cash_from_operating_activities>"
    query = f"SELECT ?v WHERE {{ ?e {item} ?v . {item} rdfs:subPropertyOf kg:reported_figure }}"
    assert {str(row[0]) for row in graph.graph.query(query)} == {"206588", "181001"}


def test_transposed_tables_have_an_instance_a_row() -> None:
    table = (("year", "lease payments"), ("2017", "$ 5"), ("2018", "6"), ("thereafter", "7"))
    report = Report("a", (), table, ())
    graph = _graph(report, build_ontology([report]))
    assert [o.path for o in graph.observations if not o.in_header] == [
        "Lease_2017 -> lease_payments -> 5",
        "Lease_2018 -> lease_payments -> 6",
        "Lease_thereafter -> lease_payments -> 7",
    ]


@pytest.mark.parametrize(
    "report",
    [
        Report("empty", (), (), ()),
        Report("no cells", (), ((), ()), ()),
        Report("one cell", (), (("5",),), ()),
        Report("blank", ("",), (("", ""), ("", "")), (" ",)),
        Report("one column", (), (("2009",), ("5",), ("6",)), ()),
        Report("not English", ("净利润 为 5 元",), (("", "二零零九"), ("净利润", "7")), ()),
        Report('strange <id> "{}" \\ \n é', (), (("", "2009"), ('a " \\ \n b', "7")), ()),
        Report("half a character \ud800", ("\ud800 5",), (("", "\ud800"), ("a", "7")), ()),
    ],
)
def test_odd_reports_build(report: Report) -> None:
    graph = _graph(report)
    assert violations(graph.graph) == []


_TEXTS = st.one_of(
    st.text(max_size=30),
    st.text(alphabet="0123456789$%().,- abc", max_size=30),
    st.sampled_from(
        ["2009", "2014", "december 31 , 2009", "$ -3.50 ( 3.50 )", "total", "in millions", "4.00%", "12/31/08"]
    ),
)
_REPORTS = st.builds(
    Report,
    id=st.text(min_size=1, max_size=20),
    pre_text=st.lists(_TEXTS, max_size=3).map(tuple),
    table=st.integers(0, 4).flatmap(lambda width: st.lists(st.tuples(*[_TEXTS] * width), max_size=5)).map(tuple),
    post_text=st.lists(_TEXTS, max_size=2).map(tuple),
)


@given(_REPORTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_report_builds(report: Report) -> None:
    graph = _graph(report)
    assert 0 <= graph.coverage <= 1
    ids = [observation.id for observation in graph.observations]
    assert len(set(ids)) == len(ids)


def test_the_shapes_can_fail() -> None:
    from kg.graphs.rdf import frozen_graph
    from kg.reports.vocabulary import UNIT

    graph = frozen_graph([triple for triple in _graph().graph if triple[1] != UNIT], owner="broken")
    found = violations(graph)
    assert found
    assert "unitMeasure" in found[0]


@pytest.fixture(scope="module")
def graph() -> ReportGraph:
    report = Report("a", (), (("", "2009", "2008"), ("net income", "$ 7", "$ 5")), ())
    return build_report_graph(report, build_ontology([report]))


def test_a_select_gives_texts_by_its_variables(graph: ReportGraph) -> None:
    found = query_report(graph, "SELECT ?year ?value { ?x kg:year ?year ; kg:net_income ?value } ORDER BY ?year")
    assert (found.names, found.rows) == (("year", "value"), [("2008", "5"), ("2009", "7")])


def test_other_forms_of_queries(graph: ReportGraph) -> None:
    assert query_report(graph, "ASK { ?x kg:net_income ?v FILTER(?v = 7) }").rows == [("yes",)]
    assert query_report(graph, "ASK { ?x kg:net_income ?v FILTER(?v = 8) }").rows == [("no",)]
    made = query_report(graph, "CONSTRUCT { ?x kg:copy ?v } WHERE { ?x kg:net_income ?v }")
    assert made.turtle is not None
    assert made.turtle.count("kg:copy") == 2
    assert query_report(graph, "CONSTRUCT { ?x kg:copy ?v } WHERE { ?x kg:no ?v }").turtle is None


@pytest.mark.parametrize("query", ["SELECT nothing", "SELECT ?x { ?x nowhere:p 1 }"])
def test_a_broken_query_is_refused(graph: ReportGraph, query: str) -> None:
    with pytest.raises(QueryError, match="the query cannot be"):
        query_report(graph, query)


ROOT = Path(__file__).resolve().parents[3]


def test_the_excerpt_is_part_of_the_graph() -> None:
    page = (ROOT / "docs" / "reference" / "report-graph.md").read_text(encoding="utf-8")
    excerpt = Graph().parse(data=re.findall(r"```turtle\n(.*?)```", page, re.DOTALL)[0], format="turtle")
    records = json.loads((SAMPLE_FOLDER / "train.json").read_text(encoding="utf-8"))
    report = read_report(next(record for record in records if record["id"] == "Single_HRBR/2021/page_12.pdf-1"))
    shipped = ROOT / "experiments" / "shipped" / "beam" / "ontology.ttl"
    graph = build_report_graph(report, Ontology.from_turtle(shipped.read_text(encoding="utf-8"))).graph
    assert len(excerpt) > 30
    assert set(excerpt) <= set(graph)
    assert f"holds {len(graph)} triples" in page


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
        ({"post_text": [None]}, "post_text.0: .*string"),
        ({"id": "a\0b"}, "id: .*pattern"),
        ({"table": [["x", False]]}, "table.0.1: .*string"),
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
