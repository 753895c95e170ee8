"""Passages that state an update: rows of tables with their header, and numbers however they are written."""

from __future__ import annotations

import pytest

from kg.errors import SchemaError
from kg.growing import AddNode, GrowingGraph, NodeType, Origin, Schema, SetProperty, supporting_span
from kg.investments import investment_schema

TABLE = """The harbours of the coast
port | tonnes | opened
Varna | 1,200 | 1906
Burgas | 900.50 | 1903

tonnes are counted in thousands
"""


@pytest.fixture(scope="module")
def graph() -> GrowingGraph:
    rules = {"name": {"type": "string"}, "value": {"type": "number"}}
    plain = {"type": "object", "required": ["name"], "properties": rules}
    return GrowingGraph(None, Schema().with_type(NodeType("Figure", "A number.", plain, {"name": "x"})))


@pytest.mark.parametrize(
    ("name", "value", "span"),
    [
        ("Varna tonnes", 1200, "Varna | 1,200 | 1906"),
        ("Burgas tonnes", 900.5, "Burgas | 900.50 | 1903"),
        ("opened Burgas", 1903, "Burgas | 900.50 | 1903"),
    ],
)
def test_a_row_states_what_its_cells_and_its_header_say(
    graph: GrowingGraph, name: str, value: float, span: str
) -> None:
    assert supporting_span(AddNode("Figure", name, {"name": name, "value": value}), TABLE, graph) == span


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Varna tonnes", 1201, "the value of Figure 'Varna tonnes' is not in the document: '1201'"),
        ("Varna tonnes", 200, "is not in the document: '200'"),
        ("Varna passengers", 1200, "the name of Figure 'Varna passengers' is not in the document"),
    ],
)
def test_what_no_row_says_is_refused(graph: GrowingGraph, name: str, value: float, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        supporting_span(AddNode("Figure", name, {"name": name, "value": value}), TABLE, graph)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Атлантида", "Helixon Inc. находится в Атлантиде."),
        ("アトランティス", "Helixon Inc. はアトランティスにある。"),
        ("Zürich", "Helixon Inc. zieht nach Zürich."),
    ],
)
def test_a_value_in_any_script_is_found_in_the_text(value: str, text: str) -> None:
    with GrowingGraph(None, investment_schema()) as graph:
        company = AddNode("Company", "Helixon Inc.", {"country": "Germany"})
        graph.apply([company], Origin("wire"))
        assert supporting_span(SetProperty(company.key, "country", value), text, graph) == text
