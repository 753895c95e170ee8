"""``finpath evaluate``: runs a program over conversations, or over questions about a graph, and scores it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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
from experiments.console import figures_table, say, show
from experiments.lms import LMConfig
from kg.errors import ConfigError

if TYPE_CHECKING:
    from experiments.evaluation import EvaluationConfig, Task
    from experiments.saved import SavedProgram
    from experiments.tracking import Tracker

FORMATS = ("pathquestion", "worldcup", "metaqa", "webqsp")
"""The formats of :mod:`experiments.data.questions`."""
GRAPH = "the graph: a file (Turtle, N-Triples, or triples with tabs or | between them) or an index (.npz)"
_SEARCH = {"beam_width": "beam_width", "max_depth": "max_depth", "top_k": "output_top_k"}


@finpath.command(
    "evaluate",
    epilog="""
    finpath evaluate beam --data sample:dev
    finpath evaluate beam --data convfinqa/dev.json --limit 50 --json out.json    # after `finpath data fetch`
    finpath evaluate beam --data sample:dev --lm openai/gpt-4o-mini    # the key is in OPENAI_API_KEY
    finpath evaluate beam --data sample:dev --lm openai/qwen --lm-set api_base=http://localhost:8080/v1
    finpath evaluate beam --data sample:dev --resume    # continues a stopped evaluation
    finpath evaluate my-kgqa --graph sample:graph --questions sample:dev --format metaqa --set max_depth=2
    """,
)
@click.argument("program", type=FILE, metavar="PROGRAM", help=PROGRAM)
@click.option("--data", type=FILE, metavar="SOURCE", help=f"conversations: {SOURCE}")
@set_option(
    f"{PROGRAM_SETTINGS}. answer=always: the best candidate is the answer (the default with gold programs); "
    "answer=confident: a turn abstains where the report does not seem to answer (the default with gold answers). For "
    "questions about a graph: beam_width, max_depth, top_k, and link=true to link topics also where the file gives them"
)
@click.option(
    "--graph",
    type=FILE,
    metavar="KB",
    help=f"{GRAPH}; sample:graph is shipped",
)
@click.option(
    "--questions",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="questions about a graph: a file, which may be given several times; sample:train and sample:dev",
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="the format of the questions")
@click.option(
    "--predictions",
    type=OUT_FILE,
    metavar="FILE",
    help="write the paths and answers of each question here at the end or at a stop, in the format of GCR's "
    "evaluation; with the same file a stopped evaluation continues",
)
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
    lm: LMConfig,
    run: RunOptions,
    write_figures: WriteFigures,
) -> int:
    """Runs a program over conversations or questions about a graph and scores it.

    Programs of the kinds beam and agent need --data, and programs about graphs need --questions. The exit code is 1
    if no turn has an answer.
    """
    if (data is None) == (not questions):
        raise click.UsageError("--data or --questions must be given, and not both")
    if data is not None and (graph or form or predictions):
        raise click.UsageError("--graph, --format and --predictions need --questions")
    if data is not None:
        return _evaluate_reports(program, data, settings, run, lm, write_figures)
    from experiments.data import graph_and_questions
    from experiments.kgqa import KGQuestions
    from experiments.saved import find_program, with_graph_settings

    search, link, form = read_search(form, settings)
    tracker = run.tracker()
    saved = with_graph_settings(find_program(program, tracker if tracker is not None else open_tracker()), search)
    if graph is None:
        raise click.UsageError("questions about a graph need --graph")
    about, loaded = graph_and_questions(graph, questions, form)
    loaded = replace(loaded, questions=loaded.questions[: run.limit])
    task = KGQuestions(about, loaded, link=link, predictions=Path(predictions) if predictions else None)
    return _evaluate(saved, task, run.config(lm, traces=not lm.is_none), run, tracker, write_figures)


def _evaluate_reports(
    program: str, data: str, settings: dict[str, str], run: RunOptions, lm: LMConfig, write_figures: WriteFigures
) -> int:
    from experiments.answers import conversation_task
    from experiments.saved import GRAPH_KINDS, find_program, with_program_settings
    from optimize.fitting import read_value

    changes = tuple(f"{key}={value}" for key, value in settings.items())  # the run's name shows them
    given = settings.pop("answer", None)
    answer = read_value(Literal["always", "confident"], given, "answer") if given is not None else None
    tracker = run.tracker()
    loaded = load_and_report(data)  # before the program, which takes longer
    saved = find_program(program, tracker if tracker is not None else open_tracker())
    if saved.config.get("kind") in GRAPH_KINDS:
        raise ConfigError(f"{program} is about graphs, which needs --questions in place of --data")
    saved = replace(saved, program=with_program_settings(saved.program, settings), changes=changes)
    return _evaluate(saved, conversation_task(loaded, answer), run.config(lm), run, tracker, write_figures)


def _evaluate(
    saved: SavedProgram,
    task: Task,
    config: EvaluationConfig,
    run: RunOptions,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Evaluates, shows and writes the figures; returns the exit code, 1 if no turn has an answer."""
    from experiments.answers import answers_table
    from experiments.evaluation import evaluate
    from experiments.kgqa import kgqa_table

    evaluation = evaluate(saved, task, config, tracker=tracker, run_name=run.run_name, resume=run.resume)
    table = {"kgqa": kgqa_table, "answers": answers_table}.get(task.run_kind, figures_table)
    show(table([evaluation.name], [evaluation.figures]))
    if evaluation.run_id is not None:
        show(f"\nrun {evaluation.run_id} ({evaluation.name}); next: finpath inspect latest --failed --limit 5")
    write_figures(evaluation.figures)
    turns = list(evaluation.turns.values())
    if all(turn.failure is not None for turn in turns):
        say(f"finpath: no turn has an answer; the first: {turns[0].message}")
        return 1
    return 0


def read_search(form: str | None, settings: dict[str, str]) -> tuple[dict[str, Any], bool, str]:
    """The settings of a search over a graph that differ from the defaults, whether topics are linked, and the format.

    Raises:
        UsageError: There is no format of the questions.
        ConfigError: A setting of the search is no number, or there is no such setting.
    """
    from optimize.fitting import read_value

    if form is None:
        raise click.UsageError("questions about a graph need --format")
    search = {_SEARCH[name]: read_value(int, settings.pop(name), name) for name in _SEARCH.keys() & settings.keys()}
    link = read_value(bool, settings.pop("link", "false"), "link")
    if settings:
        known = ", ".join((*_SEARCH, "link"))
        raise ConfigError(
            f"a program about graphs has no setting {min(settings)!r}; it has {known}, and rank_paths for its compile"
        )
    return search, link, form
