"""Passages that state an update: sentences, rows of tables with their header, numbers however they are written."""

from __future__ import annotations

import pytest

from kg.errors import SchemaError
from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, Origin, SetProperty, Update, supporting_span
from kg.investments import investment_schema

COMPANY, EVENT = NodeKey("Company", "Helixon Inc."), NodeKey("MarketEvent", "Helixon was sued by Kestrel")
STATED = "Helixon Inc., a chip maker based in Malta, was sued by Kestrel."
TEXT = f"Quay Post\n{STATED} It asked 40 million dollars."
TABLE = """The harbours of the coast
port | tonnes | opened
Varna | 1,200 | 1906
Burgas | 900.50 | 1903

tonnes are counted in thousands
"""


@pytest.fixture(scope="module")
def graph() -> GrowingGraph:
    made = GrowingGraph(None, investment_schema())
    made.apply([AddNode("Company", "Helixon Inc.", {"country": "Germany"})], Origin("wire"))
    return made


def figure(name: str, value: float) -> AddNode:
    return AddNode("Company", name, {"name": name, "ticker": value})


@pytest.mark.parametrize(
    ("update", "text", "span"),
    [
        (SetProperty(COMPANY, "country", "Malta"), TEXT, STATED),
        (AddNode("Company", "Kestrel", {"name": "Kestrel"}), TEXT, STATED),
        (AddNode("MarketEvent", EVENT.name, {"type": "lawsuit", "occurred_at": "2026-01-01"}), TEXT, STATED),
        (AddEdge("affects", EVENT, COMPANY), TEXT, STATED),
        (figure("Varna tonnes", 1200), TABLE, "Varna | 1,200 | 1906"),
        (figure("Burgas tonnes", 900.5), TABLE, "Burgas | 900.50 | 1903"),
        (figure("opened Burgas", 1903), TABLE, "Burgas | 900.50 | 1903"),
        (SetProperty(COMPANY, "country", "Атлантида"), "Helixon Inc. находится в Атлантиде.", None),
        (SetProperty(COMPANY, "country", "アトランティス"), "Helixon Inc. はアトランティスにある。", None),
        (SetProperty(COMPANY, "country", "Zürich"), "Helixon Inc. zieht nach Zürich.", None),
    ],
)
def test_an_update_has_a_passage_of_its_source(
    graph: GrowingGraph, update: Update, text: str, span: str | None
) -> None:
    assert supporting_span(update, text, graph) == (span or text)


@pytest.mark.parametrize(
    ("update", "text", "message"),
    [
        (SetProperty(COMPANY, "country", "Atlantis"), TEXT, "the country of .* is not in the document: 'Atlantis'"),
        (SetProperty(COMPANY, "country", None), TEXT, "a source removes nothing"),
        (SetProperty(NodeKey("Company", "Orbex"), "country", "Malta"), TEXT, r"Company\(Orbex\), which the country"),
        (AddNode("Company", "Helixon Inc.", {"sector": "Gold"}), TEXT, "the sector of .* is not in the document"),
        (AddNode("Company", "Harbour Gold"), TEXT, "the name of .* is not in the document"),
        (AddEdge("in_sector", COMPANY, NodeKey("Sector", "Gold")), TEXT, r"Sector\(Gold\), which the edge names"),
        (figure("Varna tonnes", 1201), TABLE, "is not in the document: '1201'"),
        (figure("Varna tonnes", 200), TABLE, "is not in the document: '200'"),
        (figure("Varna passengers", 1200), TABLE, "the name of .* is not in the document"),
    ],
)
def test_what_the_source_does_not_state_is_refused(
    graph: GrowingGraph, update: Update, text: str, message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        supporting_span(update, text, graph)
