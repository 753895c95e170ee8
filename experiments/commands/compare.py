"""``finpath compare``: compares runs, or programs that are evaluated first."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from experiments.commands.options import (
    FILE,
    POSITIVE,
    PROGRAM,
    RUN,
    SOURCE,
    WHOLE,
    Command,
    WriteFigures,
    find_run,
    json_option,
    lm_set_option,
    load_and_report,
    open_tracker,
    read_lm,
)
from experiments.console import say, show
from experiments.terminal import terminal_width

if TYPE_CHECKING:
    from experiments.data import LoadedData
    from experiments.evaluation import EvaluationConfig
    from experiments.lms import LMConfig
    from experiments.tracking import RunRecord, Tracker

_CHANGED = 10
"""Turns of different outcome that the text names; the page has all."""

_A_RUN = re.compile(r"[0-9a-f]{32}|latest(~\d+)?")


@click.command(
    cls=Command,
    epilog="""
    finpath compare latest~1 latest
    finpath compare 'beam on sample/dev.json' latest --json out.json
    finpath compare beam my-beam --data sample:dev --limit 20    # evaluates both first
    finpath compare beam beam --data sample:dev --lm none --lm local    # one --lm a program
    """,
)
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    metavar="RUN...",
    help=f"{RUN}; the first is the baseline of the others. With --data: programs, each {PROGRAM}",
)
@click.option("--data", type=FILE, metavar="SOURCE", help=f"evaluate programs on this first: {SOURCE}")
@click.option(
    "--lm",
    "models",
    multiple=True,
    metavar="MODEL",
    help="the language model, as in `finpath evaluate`; once for all programs, or once for each in their order (none)",
)
@lm_set_option
@click.option("--limit", type=POSITIVE, help="only the first N conversations of the data")
@click.option("--threads", type=POSITIVE, help="conversations at a time (1; 8 with a remote model)")
@click.option("--seed", type=WHOLE, default=0, help="seed of the bootstrap (0)")
@click.option("--no-track", is_flag=True, help="do not log the comparison to MLflow")
@json_option
def command(
    runs: tuple[str, ...],
    data: str | None,
    models: tuple[str, ...],
    lm_settings: tuple[str, ...],
    limit: int | None,
    threads: int | None,
    seed: int,
    no_track: bool,
    write_figures: WriteFigures,
) -> None:
    """Compares evaluations on the same turns by paired tests."""
    from experiments.evaluation import EvaluationConfig, compare
    from experiments.rendering import describe_comparison

    tracker = open_tracker(writes=bool(data) or not no_track)
    lms = [read_lm(model, lm_settings) for model in models or (None,)]
    if data:
        config = EvaluationConfig(limit=limit, seed=seed, threads=threads)
        records = _evaluated(runs, lms, data, config, tracker)
    else:
        records = [find_run(tracker, one) for one in runs]
    for record in records:
        if record.status != "FINISHED":
            say(f"note: the run {record.name} did not finish ({record.status})")
    comparison = compare(records, tracker, seed=seed, tracked=not no_track)
    show(describe_comparison(comparison, _CHANGED, terminal_width()))
    if comparison.run_id is not None:
        show(f"\nrun {comparison.run_id}")
    write_figures(comparison.figures())


def _evaluated(
    runs: Sequence[str], lms: Sequence[LMConfig], source: str, config: EvaluationConfig, tracker: Tracker
) -> list[RunRecord]:
    """The evaluations of the programs that the command line names; runs among them stay as they are."""
    from experiments.evaluation import mark_killed
    from experiments.tasks import ConvFinQA
    from kg.errors import ConfigError

    if len(lms) not in (1, len(runs)):
        rule = f"lm must be given once, or once for each of the {len(runs)} programs"
        raise ConfigError(f"{rule}; got {len(lms)}")
    data = load_and_report(source)
    mark_killed(tracker, ConvFinQA(data))
    records = []
    for reference, lm in zip(runs, lms if len(lms) > 1 else list(lms) * len(runs), strict=True):
        if _A_RUN.fullmatch(reference):
            records.append(tracker.find(reference))
            continue
        say(f"* {reference} with {lm.name}")
        records.append(_evaluation_of(reference, data, dataclasses.replace(config, lm=lm), tracker))
    return records


def _evaluation_of(reference: str, data: LoadedData, config: EvaluationConfig, tracker: Tracker) -> RunRecord:
    from experiments.evaluation import evaluate, evaluation_key, find_finished, find_stopped
    from experiments.saved import find_program
    from experiments.tasks import ConvFinQA
    from experiments.tracking import REVISION_TAG, describe_environment

    saved = find_program(reference, tracker)
    saved = dataclasses.replace(saved, name=reference)
    task = ConvFinQA(data)
    key, revision = evaluation_key(saved, task, config), describe_environment().git_revision
    found = find_finished(tracker, key)
    if found is not None and found.tags.get(REVISION_TAG) == revision:
        say(f"  already evaluated with the same settings and code: run {found.id}")
        return found
    stopped = find_stopped(tracker, key)
    resume = stopped is not None and stopped.tags.get(REVISION_TAG) == revision
    evaluation = evaluate(saved, task, config, tracker=tracker, resume=resume)
    assert evaluation.run_id is not None
    return tracker.find(evaluation.run_id)
