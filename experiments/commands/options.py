"""Options that several commands share, as decorators; each passes values of the Python API.

    @click.command(cls=Command)
    @lm_options
    @run_options("the data")
    @json_option
    def command(lm: LMConfig, run: RunOptions, write_figures: WriteFigures) -> int: ...

Nothing heavy is imported before a command runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from experiments.commands.groups import Option
from experiments.commands.values import FILE, POSITIVE, PROGRAM_NAME, WHOLE
from experiments.console import json_output, say
from experiments.lms import LMConfig, check_local

if TYPE_CHECKING:
    from experiments.data import LoadedData
    from experiments.engines import Engine
    from experiments.evaluation import EvaluationConfig
    from experiments.tracking import RunRecord, Tracker

Function: TypeAlias = Callable[..., Any]
WriteFigures: TypeAlias = Callable[[Any], None]
"""Writes a mapping of figures, or a list of rows."""

SOURCE = "a JSON file, a folder or data.zip in ConvFinQA's format, or the shipped sample: sample:train, sample:dev"
PROGRAM = (
    "the name of a shipped program (beam, agent), the folder of a saved program, runs:/ID/program, models:/NAME/1, "
    "models:/NAME@champion, or the name of a compile run"
)
RUN = "the id or name of a run, `latest`, or `latest~1` for the one before it"

option = functools.partial(click.option, cls=Option)
"""An option that may have a ``section`` and take ``several`` values."""


def options(*decorators: Function) -> Callable[[Function], Function]:
    """One decorator from several, in the order of the help."""

    def decorate(function: Function) -> Function:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def exclusive(*, required: bool = False, **given: object) -> None:
    """Refuses more than one of some options.

    Args:
        required: Whether one must be given.
        given: Their values by name.

    Raises:
        UsageError: More than one is given, or none although one is required.
    """
    names = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if len(names) > 1:
        raise click.UsageError(f"{' and '.join(names)} exclude each other")
    if required and not names:
        raise click.UsageError(f"one of {', '.join(f'--{name}' for name in given)} is required")


def refuse(reason: str, **given: object) -> None:
    """Raises UsageError with ``reason`` for the first option in ``given`` that has a value."""
    for name, value in given.items():
        if value:
            raise click.UsageError(f"--{name.replace('_', '-')} {reason}")


def json_option(function: Function) -> Function:
    """``--json``: passes ``write_figures``, which writes a command's figures to the file that is named."""

    @option(
        "--json",
        type=FILE,
        metavar="FILE",
        help="write the figures to FILE under stable names (- for standard output, alone)",
    )
    @functools.wraps(function)
    def wrapped(*, json: str | None, **others: Any) -> Any:
        with json_output(json) as write_figures:
            return function(write_figures=write_figures, **others)

    return wrapped


_lm = functools.partial(option, section="Language model")
_lm_settings = options(
    _lm(
        "--api-base",
        metavar="URL",
        help="address of an OpenAI-compatible server, such as http://localhost:8080/v1",
    ),
    _lm("--temperature", type=float, default=0.0, help="0 (the default) for the most probable reply"),
    _lm("--max-tokens", type=POSITIVE, default=1024, help="length limit of a reply in tokens (1024)"),
    _lm(
        "--budget",
        metavar="CAPS",
        help="stop calling the model after this much: calls=500,tokens=200000,usd=1.50",
    ),
    _lm("--timeout", type=float, default=120.0, metavar="SECONDS", help="time limit of a remote model's reply (120)"),
    _lm("--retries", type=WHOLE, default=3, help="repetitions of a call, with growing pauses, after a failure (3)"),
    _lm("--lm-threads", type=POSITIVE, help="threads of an embedded model (the number of cores, at most 4)"),
)


def lm_settings_options(function: Function) -> Function:
    """The settings of a language model without its name: passes ``lm_settings``."""

    @_lm_settings
    @functools.wraps(function)
    def wrapped(
        *,
        api_base: str | None,
        temperature: float,
        max_tokens: int,
        budget: str | None,
        retries: int,
        timeout: float,
        lm_threads: int | None,
        **others: Any,
    ) -> Any:
        config = LMConfig("none", api_base, temperature, max_tokens, budget, retries, timeout, lm_threads)
        return function(lm_settings=config, **others)

    return wrapped


def lm_options(function: Function) -> Function:
    """The language model and its settings: passes ``lm``."""

    @_lm(
        "--lm",
        default="none",
        metavar="MODEL",
        help="none (the default): the score of the beam selects the answer; local: the embedded model "
        "(`finpath lm pull`); or provider/model as DSPy names it, with its key in the environment",
    )
    @lm_settings_options
    @functools.wraps(function)
    def wrapped(*, lm: str, lm_settings: LMConfig, **others: Any) -> Any:
        config = replace(lm_settings, name=lm)
        check_local(config)
        return function(lm=config, **others)

    return wrapped


seed_option = option("--seed", type=WHOLE, default=0, help="seed of all random choices (0)")

_set_options = options(
    option(
        "--set",
        "settings",
        several=True,
        metavar="KEY=VALUE...",
        help="use of the language model by the program: evidence=index, understand=true, reads=page, page_tokens=3000, "
        "samples=3, none_above=0.7, refuse=true, escalate=agent, or escalate=thoughts with max_iterations=2, votes=3, "
        "repairs=1, sentences=4",
    ),
    option(
        "--trust",
        type=click.Choice(["beam", "blend", "model"]),
        help="who decides: the search (beam), the blend of both by fitted weights, or the language model with its own "
        "confidence; by default the blend if weights are fitted for the model, else the model unless it is embedded",
    ),
)


def set_option(function: Function) -> Function:
    """The use of the language model by a program: passes ``settings``, with ``trust=…`` from ``--trust``."""

    @_set_options
    @functools.wraps(function)
    def wrapped(*, settings: tuple[str, ...], trust: str | None, **others: Any) -> Any:
        return function(settings=(*settings, f"trust={trust}") if trust is not None else settings, **others)

    return wrapped


unmapped_option = option(
    "--unmapped",
    type=click.Choice(["keep", "fail"]),
    help="table rows that the ontology does not cover: keep them as the report's own (the default), or fail the report",
)

report_options = options(
    option("--data", type=FILE, metavar="SOURCE", default="sample:dev", help=f"{SOURCE} (sample:dev)"),
    option("--program", type=PROGRAM_NAME, default="beam", metavar="PROGRAM", help=f"{PROGRAM} (beam)"),
    set_option,
    unmapped_option,
)
"""A report's data set, and the program that answers."""


@dataclass(frozen=True)
class RunOptions:
    """The settings of a run, and of its tracking.

    Attributes:
        seed: Seed of all random choices.
        limit: Only the first conversations.
        history: The answers that later turns see: the program's own, or the gold ones.
        threads: Conversations at a time.
        run_name: The run's name in MLflow.
        resume: Whether a stopped evaluation is continued.
        traces: The turns with a trace in MLflow; ``None`` for the default of the program's kind.
        pages: Pages of wrong conversations.
        no_track: Whether nothing is logged.
        engine: The engine that runs the work.
        address: Address of a Ray cluster.
        workers: Processes of the cluster.
    """

    seed: int = 0
    limit: int | None = None
    history: Literal["own", "gold"] = "own"
    threads: int | None = None
    run_name: str | None = None
    resume: bool = False
    traces: Literal["none", "failed", "all"] | None = None
    pages: int = 10
    no_track: bool = False
    engine: Literal["local", "ray"] = "local"
    address: str | None = None
    workers: int | None = None

    def engine_for(self, lm: LMConfig | None = None) -> Engine | None:
        """The engine for work that asks a language model; ``None`` for threads of this process.

        Raises:
            UsageError: Options of a cluster without one.
            ConfigError: Ray is not installed.
        """
        if self.engine == "local":
            refuse("needs --engine ray", address=self.address, workers=self.workers)
            return None
        from experiments.engines import RayEngine

        threads = self.threads if self.threads is not None else (lm.default_threads if lm is not None else 1)
        return RayEngine(self.address, workers=self.workers, threads=threads)

    def config(self, lm: LMConfig, traces: Literal["none", "failed", "all"] = "all") -> EvaluationConfig:
        """The settings of an evaluation with a language model; ``traces`` applies where none are named."""
        from experiments.evaluation import EvaluationConfig

        return EvaluationConfig(
            lm=lm,
            history=self.history,
            limit=self.limit,
            seed=self.seed,
            threads=self.threads,
            traces=self.traces if self.traces is not None else traces,
            pages=self.pages,
        )

    def tracker(self) -> Tracker | None:
        """The tracking store; ``None`` with ``--no-track``."""
        return None if self.no_track else open_tracker(writes=True)


def run_options(data: str, names: Collection[str] = tuple(RunOptions.__dataclass_fields__)) -> Callable[..., Function]:
    """The options ``names`` of a run over ``data``: passes ``run``."""
    run = functools.partial(option, section="Run")
    decorators = {
        "seed": run("--seed", type=WHOLE, default=0, help="seed of all random choices (0)"),
        "limit": run("--limit", type=POSITIVE, help=f"only the first N {data}"),
        "history": run(
            "--history",
            type=click.Choice(["own", "gold"]),
            default="own",
            help="earlier answers that later turns see: the program's own (own, the default) or the right ones "
            "(gold, a diagnosis)",
        ),
        "threads": run("--threads", type=POSITIVE, help="number of parallel threads (1; 8 with a remote model)"),
        "run_name": run("--run-name", metavar="NAME", help="the run's name in MLflow, for compare and inspect"),
        "resume": run(
            "--resume",
            is_flag=True,
            help="continue the newest stopped evaluation of the same program, data and settings",
        ),
        "traces": run(
            "--traces",
            type=click.Choice(["none", "failed", "all"]),
            help="turns with a trace of every prompt in MLflow: none (the default for questions about a graph "
            "without a model), failed (wrong or without an answer), all (the default otherwise)",
        ),
        "pages": run(
            "--pages", type=WHOLE, default=10, help="keep a page of the first N conversations that went wrong (10)"
        ),
        "no_track": run("--no-track", is_flag=True, help="log nothing to MLflow"),
        "engine": run(
            "--engine",
            type=click.Choice(["local", "ray"]),
            default="local",
            help="local (the default): threads of this process; ray: processes of a Ray cluster (pip install "
            "'finpath[ray]'), each with --threads",
        ),
        "address": run(
            "--address",
            metavar="ADDRESS",
            help="the Ray cluster: auto on one of its machines, or HOST:PORT; by default RAY_ADDRESS, else processes "
            "of this machine",
        ),
        "workers": run("--workers", type=POSITIVE, help="processes of the Ray cluster (the number of its cores)"),
    }

    def decorate(function: Function) -> Function:
        @options(*(decorators[name] for name in decorators if name in names))
        @functools.wraps(function)
        def wrapped(**given: Any) -> Any:
            chosen = RunOptions(**{name: given.pop(name) for name in decorators if name in names})
            return function(run=chosen, **given)

        return wrapped

    return decorate


def open_tracker(*, writes: bool = False) -> Tracker:
    """The tracking store that the environment names.

    Args:
        writes: Whether a run will be written, so that the store is checked now.

    Raises:
        TrackingError: The store cannot be written.
    """
    from experiments.tracking import Tracker, TrackingConfig

    tracker = Tracker(TrackingConfig.from_environment())
    if writes:
        tracker.check()
    return tracker


def track_option(function: Function) -> Function:
    """``--track/--no-track`` of commands that ask single questions: passes ``tracker``, ``None`` to log nothing."""

    @option(
        "--track/--no-track",
        "track",
        default=None,
        section="Run",
        help="write a trace of each question to MLflow, or log nothing; by default traces are written where "
        "MLFLOW_TRACKING_URI is set or a tracking store is there already",
    )
    @functools.wraps(function)
    def wrapped(*, track: bool | None, **others: Any) -> Any:
        tracker = open_tracker() if track is not False else None
        on = track is True or (tracker is not None and tracker.config.is_on)
        return function(tracker=tracker if on else None, **others)

    return wrapped


def find_run(tracker: Tracker, reference: str) -> RunRecord:
    """The run of a reference; where several runs have its name, the choice of the newest is reported.

    Raises:
        TrackingError: There is none.
    """
    record = tracker.find(reference)
    if record.name == reference:
        same = tracker.search(["evaluate"], name=reference)
        if len(same) > 1:
            say(f"note: {len(same)} runs are named {reference!r}; the newest is taken: {record.id}")
    return record


def load_and_report(source: str) -> LoadedData:
    """Loads conversations and names the first of those that were left out."""
    from experiments.data import load_conversations

    data = load_conversations(source)
    for problem in data.problems[:5]:
        say(f"left out: {problem}")
    if len(data.problems) > 5:
        say(f"... and {len(data.problems) - 5} more; `finpath data check {source}` names them all")
    return data
