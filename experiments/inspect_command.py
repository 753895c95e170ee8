"""``finpath inspect``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.arguments import RUN, add_json, command, lazy, positive

if TYPE_CHECKING:
    from experiments.arguments import Commands


def add_parser(commands: Commands) -> None:
    """The command's arguments."""
    parser = command(
        commands,
        "inspect",
        "Shows the turns of an evaluation: question, answer, gold, rank of the gold, candidates",
        lazy("experiments.inspect_runs"),
        "finpath inspect latest --failed --limit 5",
        "finpath inspect latest --turn Single_MRLW/2020/page_49.pdf-1:2    # after an evaluation on sample:dev",
    )
    parser.add_argument("run_reference", metavar="RUN", help=RUN)
    parser.add_argument("--failed", action="store_true", help="only turns that are wrong or have no answer")
    parser.add_argument(
        "--turn", metavar="CONVERSATION:INDEX", help="one turn, with all candidates; the index counts from 0"
    )
    parser.add_argument("--limit", type=positive, default=20, metavar="N", help="at most N turns (20)")
    add_json(parser)
