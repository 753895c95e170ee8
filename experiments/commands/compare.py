"""``finpath compare``: runs, or programs that are evaluated first.

finpath compare latest~1 latest
finpath compare beam my-beam --data sample:dev
finpath compare beam beam --data sample:dev --lm none --lm local      # one --lm a program, in their order
"""

from __future__ import annotations

import argparse
import dataclasses
import re
from typing import TYPE_CHECKING

from experiments.commands.arguments import (
    PROGRAM,
    RUN,
    SOURCE,
    add_json,
    add_lm_settings,
    command,
    lazy,
    positive,
    whole,
)

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands
    from experiments.data.conversations import LoadedData
    from experiments.evaluation.records import EvaluationConfig
    from experiments.tracking.tracker import RunRecord, Tracker

_A_RUN = re.compile(r"[0-9a-f]{32}|latest(~\d+)?")


def add_parser(commands: Commands) -> None:
    """The command's arguments."""
    parser = command(
        commands,
        "compare",
        "Sets evaluations side by side on the same turns, by paired tests",
        lazy("experiments.commands.compare"),
        "finpath compare latest~1 latest",
        "finpath compare 'beam on sample/dev.json' latest --json out.json --html out.html",
        "finpath compare beam my-beam --data sample:dev --limit 20    # evaluates both first",
        "finpath compare beam beam --data sample:dev --lm none --lm local    # one --lm a program",
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help=f"{RUN}; the first is what the others are compared with. With --data: programs, each {PROGRAM}",
    )
    parser.add_argument("--data", metavar="SOURCE", help=f"evaluate programs on this first: {SOURCE}")
    group = parser.add_argument_group("evaluating programs (with --data)")
    group.add_argument(
        "--lm",
        action="append",
        metavar="MODEL",
        help="the language model, as `finpath evaluate` takes it; once for all programs, or once for each in their "
        "order (none)",
    )
    add_lm_settings(group)
    group.add_argument("--limit", type=positive, metavar="N", help="only the first N conversations of the data")
    group.add_argument(
        "--threads", type=positive, metavar="N", help="conversations at a time (1; 8 with a remote model)"
    )
    group.add_argument(
        "--again", action="store_true", help="evaluate also what was evaluated with the same settings and code before"
    )
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of the bootstrap (0)")
    parser.add_argument("--changed", type=whole, default=10, metavar="N", help="show at most N turns that changed (10)")
    parser.add_argument("--html", metavar="FILE", help="write the comparison's page here too (it is on the run)")
    parser.add_argument("--no-track", action="store_true", help="do not log the comparison to MLflow")
    add_json(parser)


def run_command(options: argparse.Namespace) -> None:
    """Runs it."""
    from experiments.console import say, show, write_json
    from experiments.evaluation.compare import compare
    from experiments.files import write_text
    from experiments.rendering.comparison import comparison_page
    from experiments.rendering.comparison_text import describe
    from experiments.tracking.tracker import Tracker, TrackingConfig

    tracker = Tracker(TrackingConfig.from_environment())
    records = _evaluated(options, tracker) if options.data else [tracker.find(one) for one in options.runs]
    for record in records:
        if record.status != "FINISHED":
            say(f"note: the run {record.name} did not finish ({record.status})")
    comparison = compare(records, tracker, seed=options.seed, tracked=not options.no_track)
    show(describe(comparison, changed=options.changed))
    if options.html:
        write_text(options.html, comparison_page(comparison))
    if comparison.run_id is not None:
        show(f"\nrun {comparison.run_id}; its page is comparison.html among the run's artifacts")
    if options.json:
        write_json(options.json, comparison.figures())


def _evaluated(options: argparse.Namespace, tracker: Tracker) -> list[RunRecord]:
    """The evaluations of the programs that the command line names; runs among them stay as they are."""
    from experiments.commands.options import lm_config_of, load_and_tell
    from experiments.console import say
    from experiments.evaluation.records import EvaluationConfig
    from experiments.evaluation.stopped import mark_killed
    from experiments.tasks.convfinqa import ConvFinQA
    from kg.errors import ConfigError

    models = options.lm if options.lm else ["none"]
    if len(models) not in (1, len(options.runs)):
        rule = f"lm must be given once, or once for each of the {len(options.runs)} programs"
        raise ConfigError(f"{rule}; got {len(models)}")
    models = models * (len(options.runs) if len(models) == 1 else 1)
    data = load_and_tell(options.data)
    mark_killed(tracker, ConvFinQA(data))
    records = []
    for reference, model in zip(options.runs, models, strict=True):
        if _A_RUN.fullmatch(reference):
            records.append(tracker.find(reference))
            continue
        config = EvaluationConfig(
            lm_config_of(options, model), limit=options.limit, seed=options.seed, threads=options.threads
        )
        say(f"* {reference} with {model}")
        records.append(_evaluation_of(reference, data, config, tracker, again=options.again))
    return records


def _evaluation_of(
    reference: str, data: LoadedData, config: EvaluationConfig, tracker: Tracker, *, again: bool
) -> RunRecord:
    from experiments.console import say
    from experiments.evaluation.evaluate import evaluate, evaluation_key
    from experiments.evaluation.log import REVISION_TAG
    from experiments.evaluation.stopped import find_finished, find_stopped
    from experiments.saved.programs import find_program
    from experiments.tasks.convfinqa import ConvFinQA
    from experiments.tracking.environment import describe_environment

    saved = find_program(reference, tracker)
    saved = dataclasses.replace(saved, name=reference)
    task = ConvFinQA(data)
    key, revision = evaluation_key(saved, task, config), describe_environment().git_revision
    found = None if again else find_finished(tracker, key)
    if found is not None and found.tags.get(REVISION_TAG) == revision:
        say(f"  evaluated before with the same settings and code: run {found.id}")
        return found
    stopped = None if again else find_stopped(tracker, key)
    resume = stopped is not None and stopped.record.tags.get(REVISION_TAG) == revision
    name = f"{reference} with {config.lm.name} on {data.name}" if not config.lm.is_none else None
    evaluation = evaluate(saved, task, config, tracker=tracker, run_name=name, resume=resume)
    assert evaluation.run_id is not None
    return tracker.find(evaluation.run_id)
