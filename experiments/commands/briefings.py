"""Briefings about a portfolio: ``finpath advisor brief``, and ``finpath advisor watch``, which ingests and alerts."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import click
from click.core import ParameterSource

from experiments.commands.growing import (
    described,
    graph_options,
    inferred_days,
    is_busy,
    open_graph,
    open_when_free,
)
from experiments.commands.options import FILE, OUT_FILE, Command, WriteFigures, json_option, options
from experiments.console import say, show
from kg.errors import DataError

if TYPE_CHECKING:
    from kg.investments import Freshness
    from programs.advisor import Briefing, Portfolio, Profile


_brief_options = options(
    click.option(
        "--database",
        type=FILE,
        required=True,
        metavar="DATABASE",
        help="an SQLite file or an SQLAlchemy URL with the tables positions (user_id, symbol, shares, avg_cost, "
        "added_at) and watchlist (user_id, symbol, added_at), and, if there is one, user_investment_profiles (user_id, "
        "risk_tolerance, investment_horizon, goals, preferences); it is only read",
    ),
    click.option(
        "--user", required=True, metavar="ID", help="the owner of the positions, the watch-list and the profile"
    ),
    click.option(
        "--prices",
        metavar="FILE|URL",
        help="closing prices as CSV with the columns date, symbol and close: they are noted, and correlated",
    ),
    click.option(
        "--freshness",
        multiple=True,
        metavar="KIND=DAYS",
        help="days for which events of a kind count, as rating=7; may be repeated",
    ),
)


@click.command(
    "brief", cls=Command, epilog="finpath advisor brief --graph knowledge --database portfolio.db --user ann"
)
@_brief_options
@click.option(
    "--format",
    "layout",
    type=click.Choice(["text", "html", "json"]),
    default="text",
    help="how briefings are written (text)",
)
@click.option("--all", "whole", is_flag=True, help="also show what the profile leaves out")
@click.option("--out", type=OUT_FILE, metavar="FILE", help="write the briefings to this file instead")
@graph_options
@json_option
def brief(
    database: str,
    user: str,
    prices: str | None,
    freshness: tuple[str, ...],
    layout: Literal["text", "html", "json"],
    whole: bool,
    out: str | None,
    graph: str,
    today: date,
    write_figures: WriteFigures,
) -> None:
    """Reports news about a user's positions and watch-list, citing the documents that report it.

    There is one block for a symbol. What the profile leaves out is counted.
    """
    from experiments.data import news_rules, read_portfolio
    from kg.files import replacing
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
        found = advisor.brief(replace(portfolio, profile=None), today, closes, days)
        unknown = symbol_problems(opened, portfolio)
    shown = found if profile is None else shaped(found, profile, whole=whole)
    briefings, missing = by_symbol(shown), left_out(found, shown)
    for problem in unknown:
        say(problem)
    note = _left_out(missing, profile) if missing and profile is not None else ""
    if note:
        say(note)
    text = _written(briefings, portfolio, today, layout, note)
    if out is None:
        show(text)
    else:
        with replacing(out) as file:
            file.write(text.encode("utf-8"))
    write_figures({"briefings": [one.as_record() for one in briefings], "left_out": missing})


def _freshness(given: tuple[str, ...]) -> Freshness:
    """Returns the days of ``--freshness``."""
    from kg.investments import Freshness

    days: dict[str, int] = {}
    for text in given:
        kind, equals, number = text.partition("=")
        if not equals or not number.isdigit():
            raise DataError(f"--freshness must be written rating=7, got {text!r}")
        days[kind.strip()] = int(number)
    unknown = [kind for kind in days if kind not in Freshness.kinds()]
    if unknown:
        raise DataError(f"--freshness has no kind {unknown[0]!r}; kinds are {', '.join(Freshness.kinds())}")
    return Freshness(days)


def _left_out(missing: dict[str, int], profile: Profile) -> str:
    """Returns in words how many events a profile left out, and how they are shown."""
    count = sum(missing.values())
    events = f"{count} event{'s' if count > 1 else ''} about {', '.join(missing)}"
    return f"your {profile.risk_tolerance} profile leaves out {events}: --all shows {'them' if count > 1 else 'it'}"


def _written(briefings: list[Briefing], portfolio: Portfolio, today: date, layout: str, left_out: str) -> str:
    """Returns briefings as text, as a page or as JSON."""
    from experiments.rendering import CAUTION, briefings_page

    if layout == "json":
        return json.dumps([one.as_record() for one in briefings], indent=2, ensure_ascii=False)
    if layout == "html":
        return briefings_page(briefings, portfolio.profile, today, left_out)
    if not briefings:
        return "nothing new that your profile asks for" if left_out else "nothing new about what you hold or watch"
    lines = []
    for one in briefings:
        lines += [one.text, *_details(one)]
    return "\n".join([*lines, CAUTION])


def _details(one: Briefing) -> list[str]:
    """Returns the events of a briefing with their sources, and its notes."""
    return [f"    {line}" for event in one.events for line in event.lines] + [f"    note: {note}" for note in one.notes]


@click.command(
    "watch", cls=Command, epilog="finpath advisor watch news/ --graph knowledge --database portfolio.db --user ann"
)
@click.argument(
    "sources",
    nargs=-1,
    required=True,
    metavar="FOLDER|FEED...",
    help="folders of .txt files, or feeds (RSS or Atom) as addresses or .xml files",
)
@_brief_options
@click.option(
    "--interval", type=click.FloatRange(min=1), default=60.0, metavar="SECONDS", help="seconds between looks (60)"
)
@click.option("--once", is_flag=True, help="look once and end")
@click.option(
    "--alerts", type=FILE, metavar="FILE", help="the file of alerts, JSON lines (alerts-USER.jsonl in the graph)"
)
@graph_options
def watch(
    sources: tuple[str, ...],
    database: str,
    user: str,
    prices: str | None,
    freshness: tuple[str, ...],
    interval: float,
    once: bool,
    alerts: str | None,
    graph: str,
    today: date,
) -> int:
    """Ingests news as they appear, and alerts once for each that matters to a portfolio, until it is interrupted.

    With --once the exit code is 1 if a source or a document could not be read.
    """
    path = Path(alerts) if alerts is not None else Path(graph) / f"alerts-{quote(user, safe='')}.jsonl"
    fixed = click.get_current_context().get_parameter_source("today") is ParameterSource.COMMANDLINE
    seen: set[str] = set()
    while True:
        day = today if fixed else datetime.now(UTC).date()
        is_whole = False
        try:
            is_whole = _look(sources, graph, database, user, prices, _freshness(freshness), path, day, seen)
        except DataError as error:
            if once or not is_busy(error):
                raise
            say(f"{error}; the next look is in {interval:g} s")
        if once:
            return 0 if is_whole else 1
        time.sleep(interval)


def _look(
    sources: tuple[str, ...],
    graph: str,
    database: str,
    user: str,
    prices: str | None,
    freshness: Freshness,
    path: Path,
    today: date,
    seen: set[str],
) -> bool:
    """Looks at the sources once, and returns whether all were read; a note or problem is shown once.

    The graph is closed between looks.
    """
    from experiments.data import news_rules, read_portfolio, read_sources
    from kg.growing import TypeProposals
    from kg.news import FrameReader
    from programs.advisor import Advisor, Watch, symbol_problems
    from programs.tools import WebLimits, read_prices

    documents, problems = read_sources(sources, WebLimits(), today)
    portfolio = read_portfolio(database, user)
    closes = read_prices(prices, WebLimits()) if prices is not None else None
    with open_when_free(graph, new=True) as opened:
        advisor = Advisor(opened, FrameReader(opened, news_rules()), TypeProposals(opened, "never"))
        step = Watch(advisor, portfolio, path, freshness, closes).step(documents, today)
        unknown = symbol_problems(opened, portfolio)
    left_out = [f"left out: {problem}" for problem in (*problems, *step.problems)]
    for note in (*inferred_days(documents), *left_out, *unknown):
        if note not in seen:
            seen.add(note)
            say(note)
    for entry in step.ingested:
        show(described(entry))
    for alert in step.alerts:
        show("\n".join([f"ALERT {alert.text}", *_details(alert)]))
    return not left_out
