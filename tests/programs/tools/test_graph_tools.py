"""The tools of agents, over each store: exact names, typed results, errors that offer the nearest names."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from kg.errors import QueryError, UndefinedResult
from kg.graphs.stores import GraphStore, MemoryStore
from kg.reports.archive import ReportStore
from kg.reports.graph import build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.observation import CellSource, SentenceSource
from kg.reports.report import Report
from kg.search.calculator import calculate
from kg.text.suggestions import nearest
from programs.tools.graph_tools import GraphTools

REPORT = Report(
    id="ACME/2009/page_3.pdf",
    pre_text=(),
    table=(
        ("in millions", "2009", "2008"),
        ("north:", "", ""),
        ("net cash from operating activities", "$ 206588", "$ 181001"),
        ("free cash flow margin", "4.00%", "-3.50% ( 3.50 % )"),
        ("south:", "", ""),
        ("net cash from operating activities", "7", "8"),
    ),
    post_text=("cash was $ 118.2 million in 2009 .",),
)
OTHER = Report("OTHER/2009/page_1.pdf", (), (("", "2009"), ("net cash from operating activities", "9")), ())
ONTOLOGY = build_ontology([REPORT])
OPERATING = "net_cash_from_operating_activities"


@pytest.fixture
def store() -> Iterator[GraphStore]:
    with MemoryStore() as opened:
        yield _filled(opened)


def _filled(store: GraphStore) -> GraphStore:
    for report in (REPORT, OTHER):
        ReportStore(store).put(build_report_graph(report, ONTOLOGY))
    return store


@pytest.fixture
def tools(store: GraphStore) -> GraphTools:
    return GraphTools(store, ONTOLOGY, REPORT.id)


def test_what_a_report_has_can_be_found_out(tools: GraphTools) -> None:
    assert tools.introspect_ontology("list_types") == ["CashFlow", "Disclosure"]
    assert tools.introspect_ontology("get_properties", "CashFlow") == ["free_cash_flow_margin", OPERATING]
    assert tools.list_entities("CashFlow") == ["CashFlow_2008", "CashFlow_2009"]
    assert tools.list_entities("kg:Disclosure") == ["Disclosure_2009"]


def test_a_figure_is_found_with_unit_scale_and_source(tools: GraphTools) -> None:
    first, second = tools.query_kg("CashFlow", {"year": "2008"}, OPERATING)
    assert (first.entity, first.property, first.value, first.year) == (
        "CashFlow_2008",
        OPERATING,
        Decimal(181001),
        "2008",
    )
    assert (first.unit, first.scale, first.report) == ("currency", 10**6, REPORT.id)
    assert first.source == CellSource(2, 2, 0, 8)
    assert second.value == 8
    (phrase,) = tools.query_kg("Disclosure")
    assert phrase.source == SentenceSource(0, 9, 24)


def test_percentages_keep_their_form(tools: GraphTools) -> None:
    figures = tools.query_kg("CashFlow", property="free_cash_flow_margin")
    assert [figure.text for figure in figures] == ["4.00%", "-3.50%"]


@pytest.mark.parametrize(
    "filters",
    [
        {"year": "2009", "section": "south"},
        {"entity": "CashFlow_2009", "section": "south"},
        {"column": "2009", "section": "south", "row": "net cash from operating activities"},
    ],
)
def test_filters_are_exact(tools: GraphTools, filters: dict[str, str]) -> None:
    assert [figure.value for figure in tools.query_kg("CashFlow", filters, OPERATING)] == [7]


def test_a_label_of_the_ontology_names_its_property(tools: GraphTools) -> None:
    assert tools.query_kg("CashFlow", {}, "Net cash from operating activities ( 1 )")[0].property == OPERATING


def test_a_limit_bounds_what_is_found(tools: GraphTools) -> None:
    assert len(tools.query_kg("CashFlow")) > 1
    assert len(tools.query_kg("CashFlow", limit=1)) == 1
    for limit in (0, 101):
        with pytest.raises(QueryError, match=f"limit must be from 1 to 100, got {limit}"):
            tools.query_kg("CashFlow", limit=limit)


def test_a_graph_needs_no_store() -> None:
    tools = GraphTools.of_report(build_report_graph(REPORT, ONTOLOGY), ONTOLOGY)
    assert tools.query_kg("CashFlow", {"year": "2009"}, OPERATING)[0].value == 206588


def test_one_report_does_not_see_another(tools: GraphTools) -> None:
    assert {figure.report for figure in tools.query_kg("CashFlow")} == {REPORT.id}


def test_a_corpus_is_seen_whole(store: GraphStore) -> None:
    tools = GraphTools(store, ONTOLOGY)
    assert tools.introspect_ontology("get_properties", "CashFlow") == ["free_cash_flow_margin", OPERATING]
    figures = tools.query_kg("CashFlow", {"year": "2009"}, OPERATING)
    assert [(figure.report, figure.value) for figure in figures] == [(REPORT.id, 206588), (REPORT.id, 7), (OTHER.id, 9)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("CashFlo",), "there is no entity type 'CashFlo'; the nearest are: CashFlow"),
        (("Cash",), "there is no entity type 'Cash'"),
        (
            ("CashFlow", {}, "net_cash_from_operating"),
            f"has no property 'net_cash_from_operating'; the nearest are: {OPERATING}",
        ),
        (("CashFlow", {"yeer": "2009"}), "there is no filter 'yeer'; the nearest are: year"),
        (("CashFlow", {"year": "2010"}, OPERATING), f"{OPERATING} has no year '2010'; the nearest are: 2008, 2009"),
        (("CashFlow", {"entity": "CashFlow_2010"}), "no entity 'CashFlow_2010'; the nearest are: CashFlow_200"),
        (("CashFlow", {"section": "east"}, OPERATING), "has no figure whose section is 'east'"),
        (("CashFlow", {"year": '" } #'}, OPERATING), "has no year"),
    ],
)
def test_wrong_names_are_refused_with_the_nearest(tools: GraphTools, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(QueryError) as failure:
        tools.query_kg(*arguments)
    assert message in str(failure.value)


def test_wrong_introspection_is_refused(tools: GraphTools, store: GraphStore) -> None:
    with pytest.raises(QueryError, match="there is no action 'list'; the nearest are: list_types"):
        tools.introspect_ontology("list")  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="get_properties needs an entity_type"):
        tools.introspect_ontology("get_properties")
    with pytest.raises(QueryError, match="report 'ACME' is not stored; the nearest are: "):
        GraphTools(store, ONTOLOGY, "ACME")


def test_dspy_takes_them_as_tools(tools: GraphTools) -> None:
    import dspy

    wrapped = {tool.name: tool for tool in map(dspy.Tool, tools.functions())}
    assert set(wrapped) == {"introspect_ontology", "list_entities", "query_kg", "calculate"}
    assert set(wrapped["query_kg"].args) == {"entity_type", "filters", "property", "limit"}
    assert wrapped["list_entities"](entity_type="CashFlow") == ["CashFlow_2008", "CashFlow_2009"]
    assert wrapped["calculate"](operation="divide", values=["206588", "2"]) == 103294


@pytest.mark.parametrize(
    ("operation", "values", "result"),
    [
        ("add", ["1", "2"], 3),
        ("subtract", ["206588", "181001"], 25587),
        ("multiply", ["50%", "const_100"], 50),
        ("divide", ["$ 1,000", "8"], 125),
        ("percentage_change", ["200", "250"], 25),
        ("average", ["1", "2", "6"], 3),
        ("sum", ["0.1", "0.2"], Decimal("0.3")),
        ("min", ["-26", "5"], -26),
        ("max", [1, 2.5], Decimal("2.5")),
        ("greater", ["2", "1"], "yes"),
        ("greater", ["1", "1"], "no"),
        ("exp", ["2", "10"], 1024),
    ],
)
def test_calculate(operation: Any, values: list[Any], result: object) -> None:
    assert calculate(operation, values) == result


@pytest.mark.parametrize(
    ("operation", "values", "message"),
    [
        ("minus", ["1", "2"], "there is no operation 'minus'; the nearest are: min"),
        ("add", ["1"], "add takes at least 2 values, got 1"),
        ("sum", [], "sum takes at least 1 value, got 0"),
        ("add", ["1", "two"], "'two' is not a number"),
        ("add", ["1", "NaN"], "'NaN' is not a number"),
    ],
)
def test_wrong_calculations_are_refused(operation: Any, values: list[str], message: str) -> None:
    with pytest.raises(QueryError) as failure:
        calculate(operation, values)
    assert message in str(failure.value)


def test_a_division_by_zero_has_no_result() -> None:
    with pytest.raises(UndefinedResult, match=r"divide\(1, 0\) has no result"):
        calculate("divide", ["1", "0"])


def test_nearest_names() -> None:
    assert nearest("net_revenu", ["net_revenue", "net_income", "goodwill"]).startswith("the nearest are: net_revenue")
    assert nearest("zzz", []) == "there are none"
    assert nearest("zzz", "abcdefg") == "there are: a, b, c, d, e, and 2 more"
