"""``finpath brief``: news about a user's positions and watch-list, from the graph of ``finpath ingest``.

$ finpath brief knowledge --database portfolio.db --user ann --html briefing.html
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import click

from experiments.commands.ingest import day_option
from experiments.commands.main import FILE, OUT_FILE, WriteFigures, finpath, json_option
from experiments.console import say, show, write_text


@finpath.command("brief", epilog="finpath brief knowledge --database portfolio.db --user ann --html briefing.html")
@click.argument("graph", type=FILE, metavar="GRAPH", help="the graph's folder")
@click.option(
    "--database",
    type=FILE,
    required=True,
    metavar="DATABASE",
    help="an SQLite file or an SQLAlchemy URL with the tables positions (user_id, symbol, shares, avg_cost, added_at) "
    "and watchlist (user_id, symbol, added_at), and, if there is one, user_investment_profiles (user_id, "
    "risk_tolerance, investment_horizon, goals, preferences); it is only read",
)
@click.option("--user", required=True, metavar="ID", help="the owner of the positions, the watch-list and the profile")
@click.option("--all", "whole", is_flag=True, help="as if there were no profile")
@click.option("--html", type=OUT_FILE, metavar="FILE", help="write the briefings as a page here too")
@day_option
@json_option
def brief_user(
    graph: str, database: str, user: str, whole: bool, html: str | None, today: datetime, write_figures: WriteFigures
) -> None:
    """Reports news about a user's positions and watch-list, citing the documents that report it.

    There is one block for a symbol. What the profile leaves out is counted.
    """
    from experiments.data import read_portfolio
    from experiments.facade.knowledge import open_graph
    from experiments.pages import CAUTION, briefings_page
    from programs.advisor import Advisor, briefings, shaped, symbol_problems

    day, portfolio = today.date(), read_portfolio(database, user)
    profile = None if whole else portfolio.profile
    with open_graph(graph) as opened:
        Advisor(opened).reflect(day)
        every = briefings(opened, portfolio, day)
        unknown = symbol_problems(opened, portfolio)
    given = every if profile is None else shaped(every, profile)
    for problem in unknown:
        say(problem)
    missing = len(every) - len(given)
    note = f"the profile leaves out {missing} briefings: --all shows them" if missing else ""
    if note:
        say(note)
    for briefing in given:
        show(briefing.text)
        for line in [line for event in briefing.events for line in event.lines]:
            show(f"    {line}")
        for remark in briefing.notes:
            show(f"    note: {remark}")
    show(CAUTION if given else "nothing new about what you hold or watch")
    if html is not None:
        write_text(html, briefings_page(given, profile, day, note))
    write_figures({"briefings": [asdict(briefing) for briefing in given], "left_out": missing})
