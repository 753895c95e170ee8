"""``finpath advisor``: the arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.commands.arguments import Parser, add_json, add_lm, command, lazy

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands

_RUN = "experiments.commands.advisor"


def add_parser(commands: Commands) -> None:
    """Adds ``finpath advisor`` and its commands."""
    parser = commands.add_parser(
        "advisor",
        help="Lets a graph grow from news, asks it, and writes briefings",
        description="Lets a graph grow from news and filings, asks it, and writes briefings about a portfolio.",
    )
    inner = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    _add_ingest(inner)
    _add_ask(inner)
    _add_brief(inner)


def _add_ingest(commands: Commands) -> None:
    parser = command(
        commands,
        "ingest",
        "Makes what documents state part of a graph; what is in it already stays as it is",
        lazy(_RUN, "run_ingest"),
        "finpath advisor ingest news/ filing.txt --graph knowledge",
    )
    parser.add_argument(
        "documents",
        nargs="+",
        metavar="FILE",
        help="files, or folders of .txt files: lines Headline:, Source: and Date:, an empty line, the text",
    )
    parser.add_argument(
        "--types",
        choices=["auto", "review", "never"],
        default="review",
        help="types that documents need and the graph lacks: take them (auto), let them wait for `finpath schema "
        "accept` (review, the default), or refuse them (never)",
    )
    _add_graph(parser)
    add_lm(parser)
    add_json(parser)


def _add_ask(commands: Commands) -> None:
    parser = command(
        commands,
        "ask",
        "Answers a question from a graph",
        lazy(_RUN, "run_ask"),
        'finpath advisor ask "which events affect Helixon Inc.?" --graph knowledge',
    )
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument(
        "--documents", metavar="FOLDER", help="with a language model: documents that it may read what is missing from"
    )
    _add_graph(parser)
    add_lm(parser)
    add_json(parser)


def _add_brief(commands: Commands) -> None:
    parser = command(
        commands,
        "brief",
        "Says what is new about what a user holds and watches, citing nodes of the graph",
        lazy(_RUN, "run_brief"),
        "finpath advisor brief --graph knowledge --database portfolio.db --user ann",
    )
    parser.add_argument(
        "--database",
        required=True,
        metavar="DATABASE",
        help="a file of SQLite or an SQLAlchemy URL with the tables positions (user_id, symbol, shares, avg_cost, "
        "added_at) and watchlist (user_id, symbol, added_at); it is only read",
    )
    parser.add_argument("--user", required=True, metavar="ID", help="whose positions and watch-list")
    _add_graph(parser)
    add_json(parser)


def _add_graph(parser: Parser) -> None:
    parser.add_argument("--graph", required=True, metavar="FOLDER", help="the graph's folder")
    parser.add_argument("--today", metavar="DATE", help="the date by which freshness is judged (the day it is)")
