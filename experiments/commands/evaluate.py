"""``finpath evaluate``: runs a program over conversations and scores it."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import click

from experiments.commands.groups import Command
from experiments.commands.options import (
    FILE,
    PROGRAM,
    SOURCE,
    RunOptions,
    WriteFigures,
    json_option,
    lm_options,
    load_and_report,
    open_tracker,
    option,
    run_options,
    set_option,
)
from experiments.console import say, show
from experiments.lms.config import LMConfig


@click.command(
    cls=Command,
    epilog="""
    finpath evaluate beam --data sample:dev
    finpath evaluate beam --data convfinqa/dev.json --limit 50 --json out.json    # after `finpath data fetch`
    finpath evaluate beam --data sample:dev --lm openai/gpt-4o-mini    # the key is in OPENAI_API_KEY
    finpath evaluate beam --data sample:dev --lm openai/qwen --api-base http://localhost:8080/v1
    finpath evaluate beam --data sample:dev --lm local --set evidence=index understand=true
    finpath evaluate beam --data sample:dev --lm local --set escalate=thoughts none_above=0.4
    finpath evaluate beam --data sample:dev --pick gold    # the ceiling of the selection
    finpath evaluate beam --data sample:dev --resume    # continues a stopped evaluation
    """,
)
@click.argument("program", type=FILE, metavar="PROGRAM", help=PROGRAM)
@option("--data", type=FILE, required=True, metavar="SOURCE", help=SOURCE)
@set_option
@option(
    "--pick",
    type=click.Choice(["program", "gold"]),
    default="program",
    help="selection among the first ten candidates: by the program (the default), or gold wherever it is among them, "
    "a diagnosis of the best possible aggregation",
)
@lm_options
@run_options("the data")
@json_option
def command(
    program: str,
    data: str,
    settings: tuple[str, ...],
    pick: Literal["program", "gold"],
    lm: LMConfig,
    run: RunOptions,
    write_figures: WriteFigures,
) -> int:
    """Runs a program over conversations and scores it by the official metric.

    The exit code is 1 if no turn has an answer.
    """
    from experiments.compiling.compile import with_program_settings
    from experiments.evaluation.evaluate import evaluate
    from experiments.evaluation.gold_pick import with_gold_pick
    from experiments.evaluation.log import summary_table
    from experiments.saved.programs import find_program
    from experiments.tasks.answers import OpenAnswers, answers_table, conversation_task

    config = run.config(lm)
    tracker = run.tracker()
    saved = find_program(program, tracker if tracker is not None else open_tracker())
    loaded = load_and_report(data)
    if settings:
        saved = replace(saved, program=with_program_settings(saved.program, settings))
    if pick == "gold":
        saved = with_gold_pick(saved, loaded.conversations)
    task = conversation_task(loaded)
    evaluation = evaluate(saved, task, config, tracker=tracker, run_name=run.run_name, resume=run.resume)
    is_open = isinstance(task, OpenAnswers)
    show(answers_table(evaluation.name, evaluation.figures) if is_open else summary_table([evaluation]))
    if evaluation.run_id is not None:
        show(f"\nrun {evaluation.run_id} ({evaluation.name}); next: finpath inspect latest --failed --limit 5")
    write_figures(evaluation.figures)
    turns = list(evaluation.turns.values())
    if all(turn.failure is not None for turn in turns):
        say(f"finpath: no turn has an answer; the first: {turns[0].message}")
        return 1
    return 0
