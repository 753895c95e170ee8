"""``finpath brief``: news about a user's positions and watch-list, from the graph of ``finpath ingest``.

$ finpath brief knowledge --database portfolio.db --user ann --html briefing.html
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import click

from experiments.commands.ingest import day_option
from experiments.commands.options import FILE, OUT_FILE, Command, WriteFigures, json_option, read_pairs
from experiments.console import say, show
from experiments.files import write_text
from kg.errors import DataError

if TYPE_CHECKING:
    from kg.investments import Freshness
    from programs.advisor import Profile


@click.command(cls=Command, epilog="finpath brief knowledge --database portfolio.db --user ann --html briefing.html")
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
@click.option(
    "--prices",
    metavar="FILE|URL",
    help="closing prices as CSV with the columns date, symbol and close: they are noted, and correlated",
)
@click.option(
    "--freshness",
    multiple=True,
    metavar="KIND=DAYS",
    help="days for which events of a kind count, as rating=7; may be given several times",
)
@click.option("--all", "whole", is_flag=True, help="also show what the profile leaves out")
@click.option("--html", type=OUT_FILE, metavar="FILE", help="write the briefings as a page here too")
@day_option
@json_option
def command(
    graph: str,
    database: str,
    user: str,
    prices: str | None,
    freshness: tuple[str, ...],
    whole: bool,
    html: str | None,
    today: date,
    write_figures: WriteFigures,
) -> None:
    """Reports news about a user's positions and watch-list, citing the documents that report it.

    There is one block for a symbol. What the profile leaves out is counted.
    """
    from experiments.data import news_rules, read_portfolio
    from experiments.facade.knowledge import open_graph
    from experiments.pages import CAUTION, briefings_page
    from kg.growing import TypeProposals
    from kg.investments import RuleReader
    from programs.advisor import Advisor, by_symbol, left_out, shaped, symbol_problems
    from programs.tools import WebLimits, read_prices

    portfolio = read_portfolio(database, user)
    profile = portfolio.profile
    closes = read_prices(prices, WebLimits()) if prices is not None else None
    with open_graph(graph) as opened:
        advisor = Advisor(opened, RuleReader(opened, news_rules()), TypeProposals(opened, "never"))
        days = _freshness(freshness)
        advisor.reflect(today, days, closes.closes if closes is not None else None)
        every = advisor.brief(replace(portfolio, profile=None), today, closes, days)
        unknown = symbol_problems(opened, portfolio)
    shown = every if profile is None else shaped(every, profile, whole=whole)
    briefings, missing = by_symbol(shown), left_out(every, shown)
    for problem in unknown:
        say(problem)
    note = _left_out(missing, profile) if missing and profile is not None else ""
    if note:
        say(note)
    for briefing in briefings:
        show(briefing.text)
        for line in [line for event in briefing.events for line in event.lines]:
            show(f"    {line}")
        for remark in briefing.notes:
            show(f"    note: {remark}")
    nothing = "nothing new that your profile asks for" if note else "nothing new about what you hold or watch"
    show(CAUTION if briefings else nothing)
    if html is not None:
        write_text(html, briefings_page(briefings, profile, today, note))
    write_figures({"briefings": [briefing.as_record() for briefing in briefings], "left_out": missing})


def _freshness(given: tuple[str, ...]) -> Freshness:
    """Returns the days of ``--freshness``."""
    from kg.investments import Freshness

    days = read_pairs(given, "freshness")
    for kind, number in days.items():
        if not number.isdigit():
            raise DataError(f"freshness must be written rating=7, got {kind}={number}")
        if kind not in Freshness.kinds():
            raise DataError(f"freshness has no kind {kind!r}; kinds are {', '.join(Freshness.kinds())}")
    return Freshness({kind: int(number) for kind, number in days.items()})


def _left_out(missing: dict[str, int], profile: Profile) -> str:
    """Returns in words how many events a profile left out, and how they are shown."""
    count = sum(missing.values())
    events = f"{count} event{'s' if count > 1 else ''} about {', '.join(missing)}"
    return f"your {profile.risk_tolerance} profile leaves out {events}: --all shows {'them' if count > 1 else 'it'}"
