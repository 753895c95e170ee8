"""``finpath evaluate``: runs a program over conversations, or over questions about a graph, and scores it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import click

from experiments.commands.graph_questions import (
    Aggregate,
    evaluate_graphs,
    predictions_option,
    read_task,
    task_options,
)
from experiments.commands.options import (
    FILE,
    PROGRAM,
    PROGRAM_SETTINGS,
    SOURCE,
    Command,
    RunOptions,
    WriteFigures,
    exclusive,
    json_option,
    lm_options,
    load_and_report,
    open_tracker,
    refuse,
    run_options,
    set_option,
    take_choice,
    take_unmapped,
    written_pairs,
)
from experiments.console import say, show
from experiments.lms import LMConfig
from experiments.terminal import terminal_width
from kg.errors import ConfigError

if TYPE_CHECKING:
    from kg.report_graphs import Unmapped


SETTINGS = (
    f"{PROGRAM_SETTINGS}. answer=always: the best candidate is the answer (the default with gold programs); "
    "answer=confident: a turn abstains where the report does not seem to answer (the default with gold answers). For "
    "questions about a graph: aggregate=score or index (a model selects paths), scorer=lm, beam_width, max_depth, "
    "top_k, and link=true to link topics also where the file gives them"
)


@click.command(
    cls=Command,
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
@set_option(SETTINGS)
@task_options
@predictions_option
@lm_options
@run_options("conversations or questions")
@json_option
def command(
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

    Programs of the kinds beam and agent need --data, and programs of the kind kgqa need --questions. The exit code is 1
    if no turn has an answer.
    """
    exclusive(required=True, data=data, questions=questions)
    task = read_task(graph, questions, form, settings)
    if task is not None:
        aggregate = take_choice(settings, "aggregate", Aggregate)
        scorer = take_choice(settings, "scorer", Literal["learned", "lm"])
        if settings:
            raise ConfigError(f"questions about a graph have no setting {next(iter(settings))!r}")
        return evaluate_graphs(
            program, task, run, lm, write_figures, aggregate=aggregate, scorer=scorer, predictions=predictions
        )
    refuse("needs --questions", predictions=predictions)
    assert data is not None
    answer = take_choice(settings, "answer", Literal["always", "confident"])
    return _evaluate_reports(program, data, settings, run, lm, write_figures, answer=answer)


def _changes(settings: tuple[str, ...], unmapped: Unmapped | None, answer: str | None) -> tuple[str, ...]:
    """The settings of the command line that the run's name shows."""
    given = {"unmapped": unmapped, "answer": answer}
    return (*settings, *(f"{name}={value}" for name, value in given.items() if value is not None))


def _evaluate_reports(
    program: str,
    data: str,
    settings: dict[str, str],
    run: RunOptions,
    lm: LMConfig,
    write_figures: WriteFigures,
    *,
    answer: Literal["always", "confident"] | None,
) -> int:
    from experiments.evaluation import evaluate
    from experiments.saved import find_program, with_program_settings
    from experiments.tasks import OpenAnswers, answers_table, conversation_task, figures_table

    unmapped, own = take_unmapped(settings), written_pairs(settings)
    config = run.config(lm)
    tracker = run.tracker()
    loaded = load_and_report(data)  # before the program, which takes longer
    saved = find_program(program, tracker if tracker is not None else open_tracker())
    if saved.config.get("kind") == "kgqa":
        raise ConfigError(f"{program} is of the kind kgqa, which needs --questions in place of --data")
    program_with_settings = with_program_settings(saved.program, own, unmapped)
    saved = replace(saved, program=program_with_settings, changes=_changes(own, unmapped, answer))
    conversations = conversation_task(loaded, answer)
    evaluation = evaluate(
        saved,
        conversations,
        config,
        tracker=tracker,
        run_name=run.run_name,
        resume=run.resume,
    )
    width = terminal_width()
    is_open = isinstance(conversations, OpenAnswers)
    table = answers_table if is_open else figures_table
    show(table([evaluation.name], [evaluation.figures], width))
    if evaluation.run_id is not None:
        show(f"\nrun {evaluation.run_id} ({evaluation.name}); next: finpath inspect latest --failed --limit 5")
    write_figures(evaluation.figures)
    turns = list(evaluation.turns.values())
    if all(turn.failure is not None for turn in turns):
        say(f"finpath: no turn has an answer; the first: {turns[0].message}")
        return 1
    return 0
