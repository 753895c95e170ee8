"""Symbols of a portfolio that the graph lacks."""

from __future__ import annotations

from kg.growing import AddNode, GrowingGraph, Origin
from kg.investments import investment_schema
from programs.advisor import Portfolio, symbol_problems


def test_a_symbol_without_an_instrument_is_reported_once() -> None:
    graph = GrowingGraph(None, investment_schema())
    company = AddNode("Company", "Nordal AG", {"ticker": "NRDL"})
    graph.apply([AddNode("Asset", "HLXN", {"symbol": "HLXN"}), company], Origin("wire.txt"))
    found = symbol_problems(graph, Portfolio({"hlxn": 1.0, "XYZ": 2.0}, ("XYZ", "NRDL")))
    assert found == [
        "no company of the graph has the symbol XYZ",
        "Company(Nordal AG) has the ticker NRDL, but no asset of the graph has it as its symbol",
    ]
