"""``finpath evaluate``: runs a program over conversations, or over questions about a graph, and scores it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from experiments.commands.main import (
    FILE,
    OUT_FILE,
    PROGRAM,
    PROGRAM_SETTINGS,
    SOURCE,
    RunOptions,
    WriteFigures,
    finpath,
    json_option,
    lm_options,
    load_and_report,
    open_tracker,
    run_options,
    set_option,
)
from experiments.console import say, show
from experiments.lms import LMConfig
from experiments.task import Task
from kg.errors import ConfigError

FORMATS = ("pathquestion", "worldcup", "metaqa", "webqsp")
"""The formats of :mod:`experiments.data.questions`."""
GRAPH = "the graph: a file (Turtle, N-Triples, or triples with tabs, | or commas between them)"


@finpath.command(
    "evaluate",
    epilog="""
    finpath evaluate beam --data convfinqa/dev.json --limit 50 --json out.json    # after `finpath data fetch`
    finpath evaluate beam --data sample:dev --lm openai/gpt-4o-mini    # the key is in OPENAI_API_KEY
    finpath evaluate beam --data sample:dev --resume    # continues a stopped evaluation
    finpath evaluate my-kgqa --graph sample:graph --questions sample:dev --format metaqa --set max_depth=2
    """,
)
@click.argument("program", type=FILE, metavar="PROGRAM", help=PROGRAM)
@click.option("--data", type=FILE, metavar="SOURCE", help=f"conversations: {SOURCE}")
@set_option(f"{PROGRAM_SETTINGS}. For questions about a graph: beam_width, max_depth, output_top_k")
@click.option("--graph", type=FILE, metavar="KB", help=f"{GRAPH}; sample:graph is shipped")
@click.option("--questions", type=FILE, multiple=True, metavar="FILE", help="questions about a graph; sample:dev ships")
@click.option("--format", "form", type=click.Choice(FORMATS), help="the format of the questions")
@click.option("--predictions", type=OUT_FILE, metavar="FILE", help="write paths and answers in the format of GCR here")
@lm_options
@run_options()
@json_option
def evaluate_program(
    program: str,
    data: str | None,
    settings: dict[str, str],
    graph: str | None,
    questions: tuple[str, ...],
    form: str | None,
    predictions: str | None,
    lm: LMConfig | None,
    run: RunOptions,
    write_figures: WriteFigures,
) -> int:
    """Runs a program over conversations or questions about a graph and scores it.

    Programs of the kinds beam and agent need --data, and programs about graphs need --questions. The exit code is 1
    if no turn has an answer.
    """
    from experiments.evaluation import ReportQuestions, evaluate
    from experiments.saved import find_program, with_program_settings

    if (data is None) == (not questions):
        raise click.UsageError("--data or --questions must be given, and not both")
    if data is not None and (graph or form or predictions):
        raise click.UsageError("--graph, --format and --predictions need --questions")
    changes = tuple(f"{key}={value}" for key, value in settings.items())  # the run's name shows them
    tracker = run.tracker()
    if data is not None:  # before the program, which takes longer
        task: Task = ReportQuestions(load_and_report(data))
    elif graph is None or form is None:
        raise click.UsageError("questions about a graph need --graph and --format")
    else:
        from experiments.data import graph_and_questions
        from experiments.kgqa import KGQuestions

        file = Path(predictions) if predictions else None
        task = KGQuestions(*graph_and_questions(graph, questions, form), predictions=file)
    saved = find_program(program, tracker if tracker is not None else open_tracker())
    if (saved.config.get("kind") == "graph") != (data is None):
        needs = "reports, which needs --data" if data is None else "graphs, which needs --questions"
        raise ConfigError(f"{program} is about {needs}")
    saved = replace(saved, program=with_program_settings(saved.program, settings), changes=changes)
    config = run.config(lm, traces=data is not None or lm is not None)
    evaluation = evaluate(saved, task, config, tracker=tracker, run_name=run.run_name, resume=run.resume)
    show(task.table(evaluation.name, evaluation.figures))
    if (run_id := evaluation.figures["run_id"]) is not None:
        show(f"\nrun {run_id} ({evaluation.name}); next: finpath inspect latest --failed --limit 5")
    write_figures(evaluation.figures)
    turns = list(evaluation.turns.values())
    if all(turn.failure is not None for turn in turns):
        say(f"finpath: no turn has an answer; the first: {turns[0].message}")
        return 1
    return 0
