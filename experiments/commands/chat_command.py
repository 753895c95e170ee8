"""``finpath chat``: the arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.commands.arguments import PROGRAM, SOURCE, add_lm, add_program_settings, command, lazy

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands


def add_parser(commands: Commands) -> None:
    """Adds ``finpath chat``."""
    parser = command(
        commands,
        "chat",
        "Talks about a report, about tables of your own, or about a graph of countries and cities",
        lazy("experiments.commands.chat"),
        "finpath chat geography",
        "finpath chat MRLW/2020/page_49.pdf",
        "finpath chat income.csv balance.xlsx notes.md",
        "printf 'what was the net income in 2020?\\nand in 2018?\\n' | finpath chat MRLW/2020/page_49.pdf",
    )
    parser.add_argument(
        "about",
        nargs="+",
        metavar="ABOUT",
        help="geography, for the graph that ships; a report's id in --data; or files: tables as CSV, Excel, HTML or "
        "Markdown with text beside them, or a report as JSON",
    )
    parser.add_argument("--data", metavar="SOURCE", default="sample:dev", help=f"{SOURCE} (sample:dev)")
    parser.add_argument("--program", default="beam", help=f"{PROGRAM} (beam)")
    add_program_settings(parser)
    parser.add_argument("--load", metavar="FILE", help="go on with a conversation that /save wrote")
    add_lm(parser)
