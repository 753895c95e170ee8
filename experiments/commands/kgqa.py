"""``finpath kgqa``: fits, evaluates and asks programs for questions about any graph.

finpath kgqa train --graph kb.txt --questions train.txt --format metaqa --out my-kgqa
finpath kgqa evaluate my-kgqa --graph kb.txt --questions dev.txt --format metaqa --json out.json
finpath kgqa ask my-kgqa --graph kb.txt "what films did Tom Hanks star in"
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.groups import Group
from experiments.commands.options import (
    FILE,
    POSITIVE,
    WHOLE,
    Function,
    WriteFigures,
    json_option,
    lm_options,
    open_tracker,
    option,
    options,
)
from experiments.console import format_table, say, show
from experiments.data.graphs import GraphSource, OneGraph, open_graph
from experiments.data.questions import FORMATS, KGQuestion, LoadedQuestions, join_questions, load_questions
from experiments.files import SAMPLE_FOLDER
from experiments.lms.config import LMConfig, reach_lm
from kg.errors import ConfigError, DataError
from kg.paths import PathConfig

if TYPE_CHECKING:
    from experiments.compiling.graphs import GraphCompileConfig
    from experiments.saved.programs import SavedProgram
    from programs.graphs import Aggregation

_SAMPLES = {"sample:graph": "graph.txt", "sample:train": "train.txt", "sample:dev": "dev.txt"}
_SHOWN = 5
AGGREGATIONS = ("score", "last-entity", "per-path", "index", "constrained")
"""The aggregations of :mod:`programs.graphs`, which imports DSPy."""
_GRAPH = (
    "the graph: a file (Turtle, N-Triples, or triples with tabs or | between them), an index (.npz), the folder of an "
    "Oxigraph database, or the address of a SPARQL endpoint"
)
_PROGRAM = (
    "a program's folder, as `finpath kgqa train` writes it; or untrained, which matches relations to the question "
    "only by shared words"
)


@dataclasses.dataclass(frozen=True)
class _Task:
    """Questions over a graph, and the search.

    Attributes:
        graph: The graph's name; ``None`` where each question has its own.
        questions: Names of the files.
        format: Format of the questions.
        link: Whether topics are linked, also where the file gives them.
        seed: Seed of all random choices.
        limit: Only the first questions.
        search: Settings of the search that differ from the defaults.
    """

    graph: str | None
    questions: tuple[str, ...]
    format: str
    link: bool
    seed: int
    limit: int | None
    search: Mapping[str, int]


_search = functools.partial(option, section="Search")
_run = functools.partial(option, section="Run")
_required_graph = option("--graph", type=FILE, required=True, metavar="KB", help=_GRAPH)
_tracking = options(
    _run("--run-name", metavar="NAME", help="the run's name in MLflow"),
    _run("--no-track", is_flag=True, help="log nothing to MLflow"),
)
_split = option(
    "--split-by",
    type=click.Choice(["topic", "question"]),
    default="topic",
    help="topic (the default): questions about the same entity are in the same part; question: at random",
)
_aggregation = options(
    option(
        "--aggregate",
        type=click.Choice(AGGREGATIONS),
        help="selection of answers: score (no language model), last-entity (naive), per-path (a model names the "
        "entity on each path), index (it selects paths in one call), constrained (it writes the path itself, "
        "held to the graph by a grammar; --lm local)",
    ),
    option(
        "--scorer",
        type=click.Choice(["learned", "lm"]),
        default="learned",
        help="scores of relations: the fitted weights (learned, the default), or a language model, a call a step",
    ),
)


def _search_options(function: Function) -> Function:
    """Passes ``search``, the settings that were given."""

    @_search("--beam-width", type=POSITIVE, help="paths kept at each depth")
    @_search("--max-depth", type=POSITIVE, help="largest number of relations of a path")
    @_search("--top-k", type=POSITIVE, help="smallest number of paths returned, and shown to a model")
    @functools.wraps(function)
    def wrapped(*, beam_width: int | None, max_depth: int | None, top_k: int | None, **others: Any) -> Any:
        given = {"beam_width": beam_width, "max_depth": max_depth, "output_top_k": top_k}
        return function(search={name: value for name, value in given.items() if value is not None}, **others)

    return wrapped


def _task_options(function: Function) -> Function:
    """Passes ``task``."""

    @option(
        "--graph",
        type=FILE,
        metavar="KB",
        help=f"{_GRAPH}; not needed where each question has its own (rog); sample:graph is shipped",
    )
    @option(
        "--questions",
        type=FILE,
        required=True,
        several=True,
        metavar="FILE...",
        help="the questions; several files are joined; sample:train and sample:dev are shipped",
    )
    @option("--format", type=click.Choice(FORMATS), required=True, help="the format of the questions")
    @option("--link", is_flag=True, help="link the topics in the questions, also where the file gives them")
    @_search_options
    @_run("--seed", type=WHOLE, default=0, help="seed of all random choices (0)")
    @_run("--limit", type=POSITIVE, help="only the first N questions")
    @functools.wraps(function)
    def wrapped(**given: Any) -> Any:
        task = _Task(**{field.name: given.pop(field.name) for field in dataclasses.fields(_Task)})
        return function(task=task, **given)

    return wrapped


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
@option("--out", type=FILE, required=True, metavar="FOLDER", help="the folder of the program")
@option("--folds", type=WHOLE, default=0, help="parts of the cross-validation (0); 0 (the default) for no estimate")
@_split
@_task_options
@_tracking
@json_option
def train(
    out: str,
    folds: int,
    split_by: str,
    task: _Task,
    run_name: str | None,
    no_track: bool,
    write_figures: WriteFigures,
) -> None:
    """Fits a program to questions with their answers and saves it."""
    from experiments.compiling.graphs import compile_graphs, crossvalidate
    from experiments.saved.programs import check_replaceable
    from experiments.tasks.kgqa import figures_table

    check_replaceable(Path(out))
    config = _compile_config(task)
    with _opened(task) as (source, loaded):
        figures: dict[str, Any] = {}
        if folds:
            figures = crossvalidate(source, loaded, config, count=folds, split_by=split_by)
            show(figures_table([f"{folds} folds by {split_by}"], [figures]))
        tracker = None if no_track else open_tracker()
        _, figures = compile_graphs(
            source, loaded, config, out=out, tracker=tracker, run_name=run_name, figures=figures
        )
    say(f"* fitted on {len(loaded.questions)} questions in {figures['train_seconds']:.1f} s; saved in {out}")
    write_figures(figures)


@command.command(
    "evaluate",
    epilog="""
    finpath kgqa evaluate my-kgqa --graph sample:graph --questions sample:dev --format metaqa --json out.json
    finpath kgqa evaluate my-kgqa --graph kb.txt --questions dev.txt --format metaqa --predictions out.jsonl
    finpath kgqa evaluate my-kgqa --questions rmanluo/RoG-webqsp:test --format rog --lm local --aggregate index
    """,
)
@click.argument("program", type=FILE, metavar="PROGRAM", help=_PROGRAM)
@option(
    "--predictions",
    type=FILE,
    metavar="FILE",
    help="write the paths and answers of each question here at once, in the format of GCR's evaluation; with the same "
    "file a stopped evaluation continues",
)
@_aggregation
@_task_options
@_run("--threads", type=POSITIVE, help="questions at a time (1; 8 with a remote model)")
@_tracking
@lm_options
@json_option
def evaluate(
    program: str,
    predictions: str | None,
    aggregate: Aggregation | None,
    scorer: str,
    task: _Task,
    threads: int | None,
    run_name: str | None,
    no_track: bool,
    lm: LMConfig,
    write_figures: WriteFigures,
) -> int:
    """Answers questions over a graph and scores them.

    The exit code is 1 if no question has an answer.
    """
    from experiments.evaluation.evaluate import evaluate as evaluate_task
    from experiments.evaluation.records import EvaluationConfig
    from experiments.tasks.kgqa import KGQuestions, figures_table

    saved = _opened_program(program, aggregate, task.search, scorer)
    config = EvaluationConfig(lm=lm, limit=task.limit, seed=task.seed, threads=threads, traces="none")
    with _opened(task, saved.program.config.max_depth) as (source, loaded):
        asked = KGQuestions(source, loaded, link=task.link, predictions=Path(predictions) if predictions else None)
        tracker = None if no_track else open_tracker()
        evaluation = evaluate_task(saved, asked, config, tracker=tracker, run_name=run_name, journal=asked.journal)
    show(figures_table([evaluation.name], [evaluation.figures]))
    if evaluation.run_id is not None:
        show(f"\nrun {evaluation.run_id}")
    write_figures(evaluation.figures)
    if all(score.failure is not None for score in evaluation.scores):
        say(f"finpath: no question has an answer; the first: {evaluation.scores[0].message}")
        return 1
    return 0


@command.command(
    "crossvalidate",
    epilog="""
    finpath kgqa crossvalidate --graph 2H-kb.txt --questions PQ-2H.txt --format pathquestion --json out.json
    """,
)
@option("--folds", type=WHOLE, default=5, help="parts of the cross-validation (5)")
@_split
@_task_options
@_tracking
@json_option
def crossvalidate(
    folds: int, split_by: str, task: _Task, run_name: str | None, no_track: bool, write_figures: WriteFigures
) -> None:
    """Fits on all parts of some questions but one and scores that one, for each part in turn."""
    from experiments.compiling.graphs import crossvalidate as crossvalidated
    from experiments.evaluation.log import run_tags
    from experiments.tasks.kgqa import figures_table, log_crossvalidation
    from experiments.tracking.tracker import open_run

    if folds < 2:
        raise ConfigError(f"folds must be at least 2, got {folds}")
    with _opened(task) as (source, loaded):
        figures = crossvalidated(source, loaded, _compile_config(task), count=folds, split_by=split_by)
    show(figures_table([f"{folds} folds by {split_by}"], [figures]))
    name = run_name or f"kgqa {folds} folds of {loaded.name}"
    with open_run(None if no_track else open_tracker(), "kgqa", name, tags=run_tags(task.seed)) as run:
        log_crossvalidation(run, figures)
    write_figures({**figures, "run_id": run.id})


@command.command(
    "ask",
    epilog='finpath kgqa ask my-kgqa --graph sample:graph "who painted the murals in the birthplace of Ines Falk?"',
)
@click.argument("program", type=FILE, metavar="PROGRAM", help=_PROGRAM)
@click.argument("question", metavar="QUESTION", help="the question")
@_required_graph
@option(
    "--topic",
    "topics",
    multiple=True,
    metavar="ENTITY",
    help="a topic entity of the question; may be given several times. Without any, the entity named in it is linked",
)
@_aggregation
@_search_options
@lm_options
@json_option
def ask(
    program: str,
    question: str,
    graph: str,
    topics: tuple[str, ...],
    aggregate: Aggregation | None,
    scorer: str,
    search: Mapping[str, int],
    lm: LMConfig,
    write_figures: WriteFigures,
) -> int:
    """Answers one question, with the path to each answer.

    The exit code is 1 if there is no answer.
    """
    import dspy

    from experiments.tasks.kgqa import check_lm
    from programs.turns import PathDetail

    saved = _opened_program(program, aggregate, search, scorer)
    check_lm(saved.program, lm)
    settings = reach_lm(lm)
    asked = KGQuestion("asked", question, topics, ())
    with _graph(graph, saved.program.config.max_depth) as source, dspy.context(**settings):
        turn = saved.program(question=question, graph=source.of(asked), topics=topics).turn
    detail = turn.detail or PathDetail()
    figures = {"question": turn.question, "failure": turn.failure, "message": turn.message}
    write_figures({**figures, **dataclasses.asdict(detail), "usage": dataclasses.asdict(turn.usage)})
    linked = detail.topics.linked
    if linked is not None and linked.is_ambiguous:
        say(f"{linked.label!r} is ambiguous, all are taken: {'; '.join(detail.topics.entities)}")
    paths = [text.split("\n")[1] for text in detail.predictions]
    rows = [
        [name, f"{100 * confidence:.0f}%", path]
        for (name, confidence), path in zip(detail.answers, paths, strict=True)
        if name in detail.chosen
    ]
    show(format_table(["answer", "", "path"], rows) if rows else f"no answer: {turn.message}")
    return 0 if turn.failure is None else 1


@command.command("index", epilog="finpath kgqa index --graph kb.nt --out kb.npz")
@_required_graph
@option("--out", type=FILE, required=True, metavar="FILE", help="the file of the index (.npz)")
@json_option
def index(graph: str, out: str, write_figures: WriteFigures) -> None:
    """Writes a graph as an index, which loads much faster."""
    if not out.endswith(".npz"):
        raise ConfigError(f"out must end with .npz, got {out!r}")
    with _graph(graph) as source:
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
    show(format_table(["", out], [[key, str(value)] for key, value in figures.items()], right={1}))
    write_figures(figures)


def _compile_config(task: _Task) -> GraphCompileConfig:
    from experiments.compiling.graphs import GraphCompileConfig

    return GraphCompileConfig(PathConfig(**task.search), task.link, task.seed, task.format)


def _opened_program(name: str, aggregate: Aggregation | None, search: Mapping[str, int], scorer: str) -> SavedProgram:
    from experiments.saved.graphs import with_graph_settings
    from experiments.saved.programs import find_program

    return with_graph_settings(find_program(name), aggregate, search, by_lm=scorer == "lm")


@contextlib.contextmanager
def _opened(task: _Task, depth: int | None = None) -> Iterator[tuple[GraphSource, LoadedQuestions]]:
    """The graph and the questions, after unreadable parts were reported."""
    if task.graph is None and task.format != "rog":
        raise ConfigError(f"graph must be given, as questions of the format {task.format} have none of their own")
    loaded = join_questions([load_questions(_path(name), task.format) for name in task.questions])
    _report(loaded.problems, len(loaded.problems))
    with _graph(task.graph, depth if depth is not None else task.search.get("max_depth")) as source:
        yield source, dataclasses.replace(loaded, questions=loaded.questions[: task.limit])


def _graph(name: str | None, depth: int | None = None) -> GraphSource:
    source = open_graph(_path(name) if name is not None else None, depth=depth or PathConfig().max_depth)
    _report(source.problems, source.problem_count)
    return source


def _path(name: str) -> str:
    if name.startswith("sample:") and name not in _SAMPLES:
        raise DataError(f"there are {', '.join(_SAMPLES)}", file=name)
    return str(SAMPLE_FOLDER / "kgqa" / _SAMPLES[name]) if name in _SAMPLES else name


def _report(problems: Sequence[str], count: int) -> None:
    for problem in problems[:_SHOWN]:
        say(f"left out: {problem}")
    if count > _SHOWN:
        say(f"... and {count - _SHOWN} more lines")
