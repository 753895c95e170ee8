"""Questions about a graph on the command line: the options that several commands share, and fit and evaluation.

finpath evaluate my-kgqa --graph sample:graph --questions sample:dev --format metaqa
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from experiments.commands.options import (
    FILE,
    OUT_FILE,
    Flag,
    RunOptions,
    WriteFigures,
    open_tracker,
    options,
    refuse,
    take_choice,
)
from experiments.console import say, show
from experiments.files import SAMPLE_FOLDER
from experiments.lms import LMConfig
from experiments.terminal import terminal_width
from kg.errors import ConfigError, DataError

if TYPE_CHECKING:
    from experiments.data import GraphSource, LoadedQuestions
    from experiments.saved import SavedProgram
    from experiments.tracking import Tracker
    from programs.worlds.paths import Aggregation

_SAMPLES = {"sample:graph": "graph.txt", "sample:train": "train.txt", "sample:dev": "dev.txt"}
_SHOWN = 5
Aggregate = Literal["score", "index"]
"""The aggregations of :mod:`programs.worlds.paths`, which imports DSPy."""
FORMATS = ("pathquestion", "worldcup", "metaqa", "webqsp", "rog")
"""The formats of :mod:`experiments.data.questions`."""
GRAPH = (
    "the graph: a file (Turtle, N-Triples, or triples with tabs or | between them), an index (.npz), the folder of an "
    "Oxigraph database, or the address of a SPARQL endpoint"
)


@dataclasses.dataclass(frozen=True)
class GraphTask:
    """Questions over a graph, and the search.

    Attributes:
        graph: The graph's name; ``None`` where each question has its own.
        questions: Names of the files.
        format: Format of the questions.
        link: Whether topics are linked, also where the file gives them.
        search: Settings of the search that differ from the defaults.
    """

    graph: str | None
    questions: tuple[str, ...]
    format: str
    link: bool
    search: Mapping[str, int]


predictions_option = click.option(
    "--predictions",
    type=OUT_FILE,
    metavar="FILE",
    help="write the paths and answers of each question here at the end or at a stop, in the format of GCR's "
    "evaluation; with the same file a stopped evaluation continues",
)


task_options = options(
    click.option(
        "--graph",
        type=FILE,
        metavar="KB",
        help=f"{GRAPH}; not needed where each question has its own (rog); sample:graph is shipped",
    ),
    click.option(
        "--questions",
        type=FILE,
        multiple=True,
        metavar="FILE",
        help="questions about a graph: a file, which may be given several times; sample:train and sample:dev",
    ),
    click.option("--format", "form", type=click.Choice(FORMATS), help="the format of the questions"),
)
"""The options of a graph and its questions, for :func:`read_task`."""

_SEARCH = {"beam_width": "beam_width", "max_depth": "max_depth", "top_k": "output_top_k"}


def read_task(
    graph: str | None, questions: tuple[str, ...], form: str | None, settings: dict[str, str]
) -> GraphTask | None:
    """Questions over a graph with the search that the settings choose, which are removed; ``None`` without questions.

    Raises:
        UsageError: There are questions without a format, or a graph without questions.
        ConfigError: A setting of the search is no number.
    """
    if not questions:
        refuse("needs --questions", graph=graph, format=form)
        return None
    if form is None:
        raise click.UsageError("--questions needs --format")
    search = {}
    for name in _SEARCH.keys() & settings.keys():
        text = settings.pop(name)
        if not text.isdecimal() or int(text) < 1:
            raise ConfigError(f"{name} must be a whole number from 1, got {text!r}")
        search[_SEARCH[name]] = int(text)
    return GraphTask(graph, questions, form, take_choice(settings, "link", Flag) == "true", search)


def evaluate_graphs(
    program: str,
    task: GraphTask,
    run: RunOptions,
    lm: LMConfig,
    write_figures: WriteFigures,
    *,
    aggregate: Aggregation | None = None,
    scorer: str | None = None,
    predictions: str | None = None,
) -> int:
    """Answers questions over a graph and scores them; returns the exit code, 1 if no question has an answer."""
    from experiments.evaluation import evaluate
    from experiments.tasks import KGQuestions, kgqa_table

    tracker = run.tracker()
    saved = find_graph_program(program, aggregate, task.search, scorer, tracker)
    with open_questions(task, run.limit, saved.program.config.max_depth) as (source, loaded):
        asked = KGQuestions(source, loaded, link=task.link, predictions=Path(predictions) if predictions else None)
        evaluation = evaluate(
            saved,
            asked,
            run.config(lm, traces=not lm.is_none),
            tracker=tracker,
            run_name=run.run_name,
            resume=run.resume,
        )
    show(kgqa_table([evaluation.name], [evaluation.figures], terminal_width()))
    if evaluation.run_id is not None:
        show(f"\nrun {evaluation.run_id}")
    write_figures(evaluation.figures)
    if all(score.failure is not None for score in evaluation.scores):
        say(f"finpath: no question has an answer; the first: {evaluation.scores[0].message}")
        return 1
    return 0


def find_graph_program(
    name: str,
    aggregate: Aggregation | None,
    search: Mapping[str, int],
    scorer: str | None,
    tracker: Tracker | None = None,
) -> SavedProgram:
    """The program of a reference, with the settings that were given."""
    from experiments.saved import find_program, with_graph_settings

    saved = find_program(name, tracker if tracker is not None else open_tracker())
    return with_graph_settings(saved, aggregate, search, by_lm=scorer == "lm")


@contextlib.contextmanager
def open_questions(
    task: GraphTask, limit: int | None, depth: int | None = None
) -> Iterator[tuple[GraphSource, LoadedQuestions]]:
    """The graph and the questions, after unreadable parts were reported."""
    from experiments.data import join_questions, load_questions

    if task.graph is None and task.format != "rog":
        raise ConfigError(f"graph must be given, as questions of the format {task.format} have none of their own")
    loaded = join_questions([load_questions(_path(name), task.format) for name in task.questions])
    _report(loaded.problems, len(loaded.problems))
    with read_graph(task.graph, depth if depth is not None else task.search.get("max_depth")) as source:
        yield source, dataclasses.replace(loaded, questions=loaded.questions[:limit])


def read_graph(name: str | None, depth: int | None = None) -> GraphSource:
    """The graph of a name, after its unreadable lines were reported; ``None`` where each question has its own."""
    from experiments.data import open_graph
    from kg.paths import PathConfig

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
