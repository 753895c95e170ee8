"""``finpath advisor companies``: the companies of a graph with their names, and how much it knows of each.

$ finpath advisor companies --graph my-knowledge
Helixon Inc. (HLXN): 12 facts, 3 events; also Helixon Semiconductor
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from experiments.commands.growing import graph_option, open_graph
from experiments.commands.options import Command, WriteFigures, json_option
from experiments.console import show

if TYPE_CHECKING:
    from kg.news import KnownCompany


@click.command("companies", cls=Command, epilog="finpath advisor companies --graph knowledge")
@graph_option
@json_option
def companies(graph: str, write_figures: WriteFigures) -> None:
    """Lists the companies of a graph with their tickers and aliases, and counts facts and events of each.

    A fact is a statement of a document that has the company as its subject or its value.
    """
    from kg.news import known_companies

    with open_graph(graph, read_only=True) as opened:
        found = known_companies(opened)
    for company in found:
        show(_line(company))
    if not found:
        show("the graph has no company")
    write_figures({"companies": [asdict(company) for company in found]})


def _line(company: KnownCompany) -> str:
    """Returns a company in one line."""
    ticker = f" ({company.ticker})" if company.ticker else ""
    also = f"; also {', '.join(company.aliases)}" if company.aliases else ""
    return f"{company.name}{ticker}: {_counted(company.facts, 'fact')}, {_counted(company.events, 'event')}{also}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
