"""``finpath kgqa``: fits, evaluates and asks programs for questions about any graph.

finpath kgqa train --graph kb.txt --questions train.txt --format metaqa --out my-kgqa
finpath kgqa evaluate my-kgqa --graph kb.txt --questions dev.txt --format metaqa --json out.json
finpath kgqa ask my-kgqa --graph kb.txt "what films did Tom Hanks star in"
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.graph_questions import (
    GRAPH,
    GraphTask,
    aggregation_options,
    evaluate_graphs,
    find_graph_program,
    fit_graphs,
    open_questions,
    opened_tracker,
    predictions_option,
    read_graph,
    search_options,
    task_options,
)
from experiments.commands.options import (
    FILE,
    OUT_FILE,
    OUT_FOLDER,
    WHOLE,
    Group,
    RunOptions,
    WriteFigures,
    json_option,
    lm_options,
    run_options,
    track_option,
)
from experiments.console import format_table, say, show, write_share
from experiments.lms import LMConfig, reach_lm
from experiments.terminal import terminal_width, waiting
from kg.errors import ConfigError

if TYPE_CHECKING:
    from experiments.compiling import SplitBy
    from experiments.tracking import Tracker
    from programs.worlds.paths import Aggregation

_PROGRAM = (
    "a program's folder, as `finpath kgqa train` writes it; or untrained, which matches relations to the question "
    "only by shared words"
)


_required_graph = click.option("--graph", type=FILE, required=True, metavar="KB", help=GRAPH)
_split = click.option(
    "--split-by",
    type=click.Choice(["topic", "question", "relation"]),
    default="topic",
    help=(
        "topic (the default): questions about the same entity are in the same part; question: at random; relation: "
        "no question to learn from has the relation that answers one of the part"
    ),
)
_rank = click.option(
    "--rank-paths",
    "ranked",
    is_flag=True,
    help="also fit a ranker of whole paths by the vectors of names; for questions that people wrote",
)
_FIT = ("seed", "limit", "run_name", "no_track")


@click.group(cls=Group)
def command() -> None:
    """Answers questions about the entities of any graph by paths through it."""


@command.command(
    "train",
    epilog="""
    finpath kgqa train --graph sample:graph --questions sample:train --format metaqa --out my-kgqa
    finpath kgqa train --graph 2H-kb.txt --questions PQ-2H.txt --format pathquestion --folds 5 --out pq
    """,
)
@click.option("--out", type=OUT_FOLDER, required=True, metavar="FOLDER", help="the folder of the program")
@click.option(
    "--folds", type=WHOLE, default=0, help="parts of the cross-validation (0); 0 (the default) for no estimate"
)
@_split
@_rank
@task_options(required=True)
@run_options("questions", _FIT)
@json_option
def train(
    out: str,
    folds: int,
    split_by: SplitBy,
    ranked: bool,
    task: GraphTask,
    run: RunOptions,
    write_figures: WriteFigures,
) -> None:
    """Fits a program to questions with their answers and saves it; `finpath compile kgqa` does the same."""
    fit_graphs(task, run, out, write_figures, folds=folds, split_by=split_by, ranked=ranked)


@command.command(
    "evaluate",
    epilog="""
    finpath kgqa evaluate my-kgqa --graph sample:graph --questions sample:dev --format metaqa --json out.json
    finpath kgqa evaluate my-kgqa --graph kb.txt --questions dev.txt --format metaqa --predictions out.jsonl
    finpath kgqa evaluate my-kgqa --questions rmanluo/RoG-webqsp:test --format rog --lm local --aggregate index
    """,
)
@click.argument("program", type=FILE, metavar="PROGRAM", help=_PROGRAM)
@predictions_option
@aggregation_options
@task_options(required=True)
@run_options("questions", (*_FIT, "threads"))
@lm_options
@json_option
def evaluate(program: str, task: GraphTask, run: RunOptions, lm: LMConfig, **given: Any) -> int:
    """Answers questions over a graph and scores them, as `finpath evaluate` does.

    The exit code is 1 if no question has an answer.
    """
    return evaluate_graphs(program, task, run, lm, **given)


@command.command(
    "crossvalidate",
    epilog="""
    finpath kgqa crossvalidate --graph 2H-kb.txt --questions PQ-2H.txt --format pathquestion --json out.json
    """,
)
@click.option("--folds", type=WHOLE, default=5, help="parts of the cross-validation (5)")
@_split
@_rank
@click.option(
    "--journal",
    type=OUT_FILE,
    metavar="FILE",
    help="keeps the scores of each part; a run that was stopped continues with the same file",
)
@task_options(required=True)
@run_options("questions", _FIT)
@json_option
def crossvalidate(
    folds: int,
    split_by: SplitBy,
    ranked: bool,
    journal: str | None,
    task: GraphTask,
    run: RunOptions,
    write_figures: WriteFigures,
) -> None:
    """Fits on all parts of some questions but one and scores that one, for each part in turn."""
    from experiments.compiling import crossvalidate as crossvalidated
    from experiments.evaluation import run_tags
    from experiments.tasks import figures_table, log_crossvalidation
    from experiments.tracking import open_run

    if folds < 2:
        raise ConfigError(f"folds must be at least 2, got {folds}")
    tracker = opened_tracker(run)
    with open_questions(task, run.limit) as (source, loaded):
        figures = crossvalidated(
            source,
            loaded,
            task.compile_config(run.seed, ranked=ranked),
            count=folds,
            split_by=split_by,
            journal=None if journal is None else Path(journal),
        )
    show(figures_table([f"{folds} folds by {split_by}"], [figures], terminal_width()))
    name = run.run_name or f"kgqa {folds} folds of {loaded.name}"
    with open_run(tracker, "kgqa", name, tags=run_tags(run.seed)) as tracked:
        log_crossvalidation(tracked, figures)
    write_figures({**figures, "run_id": tracked.id})


@command.command(
    "ask",
    epilog='finpath kgqa ask my-kgqa --graph sample:graph "where was Runa Falk born?"',
)
@click.argument("program", type=FILE, metavar="PROGRAM", help=_PROGRAM)
@click.argument("question", metavar="QUESTION", help="the question")
@_required_graph
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="ENTITY",
    help="a topic entity of the question; may be given several times. Without any, the entity named in it is linked",
)
@aggregation_options
@search_options
@lm_options
@track_option
@json_option
def ask(
    program: str,
    question: str,
    graph: str,
    topics: tuple[str, ...],
    aggregate: Aggregation | None,
    scorer: str | None,
    search: Mapping[str, int],
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Answers one question, with the path to each answer.

    The exit code is 1 if there is no answer.
    """
    import dspy

    from experiments.data import KGQuestion
    from experiments.tasks import check_lm
    from experiments.tracking import asked as asked_of
    from programs.turns import PathDetail

    saved = find_graph_program(program, aggregate, search, scorer)
    check_lm(saved.program, lm)
    settings = reach_lm(lm)
    asked = KGQuestion("asked", question, topics, ())
    with (
        waiting("answer"),
        read_graph(graph, saved.program.config.max_depth) as source,
        dspy.context(**settings),
        asked_of(tracker, "kgqa", graph, {**lm.params(), "program": saved.name}) as log,
        log.turn(question) as seen,
    ):
        turn = saved.program(question=question, graph=source.of(asked), topics=topics).turn
        seen.outputs, seen.failure = {"answer": list(turn.answer or ()), "message": turn.message}, turn.failure
    detail = turn.detail or PathDetail()
    figures = {"question": turn.question, "failure": turn.failure, "message": turn.message}
    write_figures({**figures, **dataclasses.asdict(detail), "usage": dataclasses.asdict(turn.usage)})
    linked = detail.topics.linked
    if linked is not None and linked.is_ambiguous:
        say(f"{linked.label!r} is ambiguous, all are taken: {'; '.join(detail.topics.entities)}")
    paths = [text.split("\n")[1] for text in detail.predictions]
    rows = [
        [name, write_share(confidence, 0), path]
        for (name, confidence), path in zip(detail.answers, paths, strict=True)
        if name in detail.chosen
    ]
    show(format_table(["answer", "", "path"], rows, width=terminal_width()) if rows else f"no answer: {turn.message}")
    return 0 if turn.failure is None else 1


@command.command("index", epilog="finpath kgqa index --graph kb.nt --out kb.npz")
@_required_graph
@click.option("--out", type=OUT_FILE, required=True, metavar="FILE", help="the file of the index (.npz)")
@json_option
def index(graph: str, out: str, write_figures: WriteFigures) -> None:
    """Writes a graph as an index, which loads much faster."""
    from experiments.data import OneGraph

    if not out.endswith(".npz"):
        raise ConfigError(f"out must end with .npz, got {out!r}")
    with read_graph(graph) as source:
        if not isinstance(source, OneGraph):
            raise ConfigError("graph must be one that can be read whole, not an endpoint")
        if source.graph.other_names:
            say("* an index keeps the names of entities, not their other names")
        source.index.save(out)
        figures = {
            "triples": len(source.index),
            "entities": len(source.index.entities),
            "relations": len(source.index.relations) // 2,
            "bytes": source.index.bytes,
            "graph_problems": source.problem_count,
        }
    show(
        format_table(
            ["", out], [[key, str(value)] for key, value in figures.items()], right={1}, width=terminal_width()
        )
    )
    write_figures(figures)
