"""``finpath compare``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.arguments import RUN, add_json, command, lazy, whole

if TYPE_CHECKING:
    from experiments.arguments import Commands


def add_parser(commands: Commands) -> None:
    """The command's arguments."""
    parser = command(
        commands,
        "compare",
        "Sets evaluations side by side on the same turns, by paired tests",
        lazy("experiments.compare"),
        "finpath compare latest~1 latest",
        "finpath compare 'beam on sample/dev.json' latest --json out.json",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help=f"{RUN}; the first is what the others are compared with")
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of the bootstrap (0)")
    parser.add_argument("--changed", type=whole, default=10, metavar="N", help="show at most N turns that changed (10)")
    parser.add_argument("--no-track", action="store_true", help="log nothing to MLflow")
    add_json(parser)
