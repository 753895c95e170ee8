"""``finpath promote``: the alias ``champion`` moves to a program that is shown to be better.

finpath promote latest --against 'beam on sample/dev.json'     # the first time
finpath promote latest                                          # against what has the alias
finpath evaluate models:/beam@champion --data sample:dev
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.commands.arguments import RUN, add_json, command, lazy, whole

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands


def add_parser(commands: Commands) -> None:
    """The command's arguments."""
    parser = command(
        commands,
        "promote",
        "Sets an alias on an evaluated program, if a paired test shows that it is better than what has it now",
        lazy("experiments.commands.promote"),
        "finpath promote latest --against 'beam on sample/dev.json'",
        "finpath promote my-beam --name beam",
        "finpath evaluate models:/beam@champion --data sample:dev",
    )
    parser.add_argument("run_reference", metavar="RUN", help=f"the evaluation of the program: {RUN}")
    parser.add_argument("--name", metavar="NAME", help="the registered model's name (the program's kind)")
    parser.add_argument("--alias", default="champion", metavar="WORD", help="the alias to set (champion)")
    parser.add_argument(
        "--against", metavar="RUN", help="be better than this evaluation, in place of that of what has the alias"
    )
    parser.add_argument("--alpha", type=float, default=0.05, metavar="P", help="the level of McNemar's test (0.05)")
    parser.add_argument("--force", action="store_true", help="promote without a gain that holds; the run says so")
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of the bootstrap (0)")
    add_json(parser)


def run_command(options: argparse.Namespace) -> int:
    """Runs it; the exit code is 1 when the alias was not set."""
    from experiments.console import say, show, write_json
    from experiments.evaluation.promote import PromotionConfig, promote
    from experiments.tracking.tracker import Tracker, TrackingConfig

    tracker = Tracker(TrackingConfig.from_environment())
    config = PromotionConfig(
        name=options.name,
        alias=options.alias,
        against=tracker.find(options.against) if options.against else None,
        alpha=options.alpha,
        force=options.force,
        seed=options.seed,
    )
    promotion = promote(tracker.find(options.run_reference), tracker, config)
    if options.json:
        write_json(options.json, promotion.figures())
    if not promotion.is_promoted:
        say(f"finpath: not promoted: {promotion.reason}")
        return 1
    assert promotion.version is not None
    name, version = promotion.version.name, promotion.version.version
    forced = " (FORCED, which its run says)" if promotion.is_forced else ""
    show(f"models:/{name}@{options.alias} is version {version} now{forced}: {promotion.reason}")
    return 0
