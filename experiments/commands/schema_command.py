"""``finpath schema``: the types of a growing graph: what there is, what waits for review, what is outdated.

finpath schema list --graph knowledge
finpath schema review --graph knowledge
finpath schema accept Regulation --graph knowledge
finpath schema migrate --graph knowledge --apply
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.commands.arguments import Parser, add_json, command, lazy

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands

_RUN = "experiments.commands.schema"


def add_parser(commands: Commands) -> None:
    """Adds ``finpath schema`` and its commands."""
    parser = commands.add_parser(
        "schema",
        help="Shows and changes the types of a growing graph",
        description="Shows and changes the types of a growing graph.",
    )
    inner: Commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    _add(inner, "list", "Lists the types as a language model is shown them", "run_list")
    _add(inner, "review", "Lists the types that wait for a person's word", "run_review")
    for verb, summary in (("accept", "Takes a type that waits"), ("refuse", "Drops a type that waits")):
        parser = _add(inner, verb, summary, f"run_{verb}", " Regulation")
        parser.add_argument("name", metavar="TYPE")
    parser = _add(
        inner, "revise", "Gives a type a new JSON Schema as its next version", "run_revise", " Company s.json"
    )
    parser.add_argument("name", metavar="TYPE")
    parser.add_argument(
        "file", metavar="FILE", help="JSON with properties_schema, and description or example if changed"
    )
    migrate = _add(inner, "migrate", "Shows nodes of older versions; moves those that fit the newest", "run_migrate")
    migrate.add_argument("--apply", action="store_true", help="do it; without this it is only shown")


def _add(commands: Commands, name: str, summary: str, function: str, more: str = "") -> Parser:
    parser = command(commands, name, summary, lazy(_RUN, function), f"finpath schema {name}{more} --graph knowledge")
    parser.add_argument("--graph", required=True, metavar="FOLDER", help="the graph's folder")
    add_json(parser)
    return parser
