"""``finpath evaluate``.

finpath evaluate beam --data sample:dev
finpath evaluate beam --data sample:dev --resume      # after it was stopped
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.commands.arguments import (
    PROGRAM,
    SOURCE,
    add_json,
    add_lm,
    add_program_settings,
    add_run,
    command,
    lazy,
)

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands


def add_parser(commands: Commands) -> None:
    """The command's arguments."""
    parser = command(
        commands,
        "evaluate",
        "Runs a program over conversations and scores it by the official metric",
        lazy("experiments.commands.evaluate"),
        "finpath evaluate beam --data sample:dev",
        "finpath evaluate beam --data convfinqa/dev.json --limit 50 --json out.json    # after `finpath data fetch`",
        "finpath evaluate beam --data sample:dev --lm openai/gpt-4o-mini    # the key is in OPENAI_API_KEY",
        "finpath evaluate beam --data sample:dev --lm openai/qwen --api-base http://localhost:8080/v1",
        "finpath evaluate beam --data sample:dev --lm local --set evidence=index understand=true",
        "finpath evaluate beam --data sample:dev --lm local --set escalate=thoughts none_above=0.4",
        "finpath evaluate beam --data sample:dev --pick gold    # the ceiling of picking",
        "finpath evaluate beam --data sample:dev --resume    # goes on where it was stopped",
    )
    parser.add_argument("program", help=PROGRAM)
    parser.add_argument("--data", required=True, metavar="SOURCE", help=SOURCE)
    add_program_settings(parser)
    parser.add_argument(
        "--pick",
        choices=["program", "gold"],
        default="program",
        help="who picks among the first ten candidates: the program (the default), or gold wherever it is among them, "
        "a diagnosis of what a perfect aggregator would reach",
    )
    add_lm(parser)
    add_run(parser)
    add_json(parser)


def run_command(options: argparse.Namespace) -> int:
    """Runs it; the exit code is 1 when no turn at all has an answer."""
    from experiments.commands.options import config_of, load_and_tell, tracker_of
    from experiments.compiling.compile import with_program_settings
    from experiments.console import say, show, write_json
    from experiments.evaluation.evaluate import evaluate
    from experiments.evaluation.gold_pick import with_gold_pick
    from experiments.evaluation.log import summary_table
    from experiments.saved.programs import find_program
    from experiments.tasks.convfinqa import ConvFinQA
    from experiments.tracking.tracker import Tracker, TrackingConfig

    config = config_of(options)
    tracker = tracker_of(options)
    saved = find_program(options.program, tracker or Tracker(TrackingConfig.from_environment()))
    data = load_and_tell(options.data)
    if options.set:
        saved = replace(saved, program=with_program_settings(saved.program, options.set))
    if options.pick == "gold":
        saved = with_gold_pick(saved, data.conversations)
    task = ConvFinQA(data)
    evaluation = evaluate(saved, task, config, tracker=tracker, run_name=options.run_name, resume=options.resume)
    show(summary_table([evaluation]))
    if evaluation.run_id is not None:
        show(f"\nrun {evaluation.run_id} ({evaluation.name}); next: finpath inspect latest --failed --limit 5")
    if options.json:
        write_json(options.json, evaluation.figures)
    if all(score.failure is not None for score in evaluation.scores):
        say(f"finpath: no turn has an answer; the first: {evaluation.scores[0].message}")
        return 1
    return 0
