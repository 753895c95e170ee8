"""Symbols of a portfolio that the graph lacks, so that nothing can be reported about them.

>>> symbol_problems(graph, Portfolio({"HLXN": 120.0, "XYZ": 3.0}))
['no company of the graph has the symbol XYZ']
"""

from __future__ import annotations

from kg.growing import GrowingGraph, NodeKey
from programs.advisor.briefings import Portfolio


def symbol_problems(graph: GrowingGraph, portfolio: Portfolio) -> list[str]:
    """Returns a message for each symbol of a portfolio about which the graph can hold no insight.

    Args:
        graph: The graph. Insights are about its instruments.
        portfolio: The holdings and the watch-list; what is held comes first.
    """
    tickers = {str(node.properties.get("ticker", "")).casefold(): node.key for node in graph.nodes("Company")}
    problems = []
    for symbol in dict.fromkeys((*portfolio.held, *portfolio.watched)):
        if graph.node(NodeKey("Asset", symbol)) is not None:
            continue
        company = tickers.get(symbol.casefold())
        if company is None:
            problems.append(f"no company of the graph has the symbol {symbol}")
        else:
            problems.append(f"{company} has the ticker {symbol}, but no asset of the graph has it as its symbol")
    return problems
