"""Options that several commands share: the figures, the language model, the program's settings, a run's settings.

    @click.command(cls=Command)
    @lm_options
    @run_options("conversations")
    @json_option
    def command(lm: LMConfig, run: RunOptions, write_figures: WriteFigures) -> int: ...

The modules that evaluate and track are imported when an option is used, not when the module is loaded: nothing heavy
is imported before a command runs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import click

from experiments.console import check_target, json_output, say
from experiments.lms import LMConfig, check_local
from kg.errors import ConfigError

if TYPE_CHECKING:
    from experiments.data import LoadedData
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

POSITIVE = click.IntRange(min=1)
FILE = click.Path(readable=False, path_type=str)
"""Text that may be the path of a file or folder, which a shell completes."""


class Target(click.Path):
    """A file or folder that the command writes; the place is tried while the command line is read.

    Args:
        folder: Whether it is a folder; ``None`` for either.
    """

    def __init__(self, *, folder: bool | None = False) -> None:
        super().__init__(readable=False, path_type=str)
        self.folder = folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the path.

        Raises:
            ConfigError: The place cannot be written.
        """
        if ctx is None or not ctx.resilient_parsing:
            check_target(value, str(getattr(param, "name", "path")), folder=self.folder)
        return value


OUT_FILE, OUT_FOLDER, OUT_PLACE = Target(), Target(folder=True), Target(folder=None)


class _Examples:
    """Help that ends with examples, one a line, as they are written."""

    epilog: str | None

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in inspect.cleandoc(self.epilog).splitlines():
                    formatter.write(f"{' ' * formatter.current_indent}{line}\n")


class Command(_Examples, click.Command):
    """A command whose help ends with examples."""


class Group(_Examples, click.Group):
    """A group of commands, listed in the order in which they were added."""

    command_class: ClassVar[type[click.Command]] = Command  # type: ignore[misc]

    def list_commands(self, _: click.Context) -> list[str]:
        """The names, in order."""
        return list(self.commands)

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the names with the first sentences of their help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.get_short_help_str(200)) for name, verb in self.commands.items()])


def options(*decorators: Function) -> Callable[[Function], Function]:
    """One decorator from several, in the order of the help."""

    def decorate(function: Function) -> Function:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _figures_writer(context: click.Context, _: click.Parameter, path: str | None) -> WriteFigures:
    return context.with_resource(json_output(None if context.resilient_parsing else path))


json_option = click.option(
    "--json",
    "write_figures",
    type=FILE,
    metavar="FILE",
    callback=_figures_writer,
    help="write the figures to FILE under stable names (- for standard output, alone)",
)
"""Passes ``write_figures``, which writes a command's figures to the file that is named."""


def read_lm(model: str | None, settings: Collection[str]) -> LMConfig:
    """The language model of ``--lm`` and ``--lm-set``; without ``--lm`` that of ``FINPATH_LM``.

    Raises:
        ConfigError: There is no such setting, or its value is wrong.
        LMError: An embedded model that is not here.
    """
    config = LMConfig.parse(model, read_pairs(settings, "lm-set"))
    if settings and config.is_none:
        raise ConfigError("lm-set is for a language model: name one with --lm, or in FINPATH_LM")
    check_local(config)
    return config


def _lm(context: click.Context, _: click.Parameter, model: str | None) -> LMConfig | None:
    return None if context.resilient_parsing else read_lm(model, context.meta["lm_settings"])


def _keep_lm_settings(context: click.Context, _: click.Parameter, settings: tuple[str, ...]) -> None:
    context.meta["lm_settings"] = settings


lm_options = options(
    click.option(
        "--lm",
        metavar="MODEL",
        callback=_lm,
        help="none (the default): no model is asked; local: the embedded model (`finpath lm pull`); or provider/model "
        "as DSPy names it, with its key in the environment. FINPATH_LM has it for all commands, with settings after "
        "it: openai/qwen temperature=0",
    ),
    click.option(
        "--lm-set",
        "lm_settings",
        multiple=True,
        is_eager=True,  # it is read before --lm
        expose_value=False,
        callback=_keep_lm_settings,
        metavar="KEY=VALUE",
        help="a setting of the model: api_base=http://localhost:8080/v1 (an OpenAI-compatible server), temperature=0, "
        "max_tokens=1024, timeout=120 (seconds), retries=3, threads=4 (of an embedded model), "
        "budget=calls=500,tokens=200000,usd=1.50 (caps)",
    ),
)
"""The language model and its settings: passes ``lm``."""


def read_pairs(texts: Collection[str], name: str) -> dict[str, str]:
    """The values of an option ``--name KEY=VALUE`` by their keys; of two with one key the last counts.

    Raises:
        ConfigError: A text is not of this form.
    """
    pairs = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"{name} must be written KEY=VALUE, got {text!r}")
        pairs[key.strip()] = value.strip()
    return pairs


Flag = Literal["true", "false"]
"""A setting that is on or off."""


def take_choice(pairs: dict[str, str], name: str, choices: Any) -> Any:
    """Removes a setting and returns its value, one of a ``Literal``; ``None`` where it is not given.

    Raises:
        ConfigError: The value is none of them.
    """
    value = pairs.pop(name, None)
    if value is not None and value not in get_args(choices):
        raise ConfigError(f"{name} must be one of {', '.join(get_args(choices))}, got {value!r}")
    return value


def set_option(text: str) -> Callable[[Function], Function]:
    """``--set``: passes ``settings``, a dictionary; ``text`` is the help."""

    def read(_context: click.Context, _: click.Parameter, settings: tuple[str, ...]) -> dict[str, str]:
        return read_pairs(settings, "set")

    return click.option("--set", "settings", multiple=True, callback=read, metavar="KEY=VALUE", help=text)


PROGRAM_SETTINGS = (
    "a setting of the program, such as page_tokens=3000, seed=1, or unmapped=fail to fail a "
    "report with table rows that the ontology does not cover; may be given several times"
)


subject_options = options(
    click.option("--data", type=FILE, metavar="SOURCE", default="sample:dev", help=f"{SOURCE} (sample:dev)"),
    click.option("--program", type=FILE, default="beam", metavar="PROGRAM", help=f"{PROGRAM} (beam)"),
)
"""A report's data set, and the program that answers or has the ontology."""

report_options = options(subject_options, set_option(PROGRAM_SETTINGS))
"""The same, with settings of the program."""


@dataclass(frozen=True)
class RunOptions:
    """The settings of a run, and of its tracking.

    Attributes:
        seed: Seed of all random choices.
        limit: Only the first conversations.
        threads: Conversations at a time.
        run_name: The run's name in MLflow.
        resume: Whether a stopped evaluation is continued.
        no_track: Whether nothing is logged.
    """

    seed: int = 0
    limit: int | None = None
    threads: int | None = None
    run_name: str | None = None
    resume: bool = False
    no_track: bool = False

    def config(self, lm: LMConfig, *, traces: bool = True) -> EvaluationConfig:
        """The settings of an evaluation with a language model, and whether its turns have a trace in MLflow."""
        from experiments.evaluation import EvaluationConfig

        return EvaluationConfig(lm=lm, limit=self.limit, seed=self.seed, threads=self.threads, traces=traces)

    def tracker(self) -> Tracker | None:
        """The tracking store; ``None`` with ``--no-track``."""
        return None if self.no_track else open_tracker(writes=True)


threads_option = click.option(
    "--threads", type=POSITIVE, help="conversations, questions or documents at a time (1; 8 with a remote model)"
)
_RUN_OPTIONS: dict[str, Callable[[Function], Function]] = {
    "seed": click.option("--seed", type=click.IntRange(min=0), default=0, help="seed of all random choices (0)"),
    "limit": click.option("--limit", type=POSITIVE, help="only the first N conversations or questions"),
    "threads": threads_option,
    "run_name": click.option("--run-name", metavar="NAME", help="the run's name in MLflow, for compare, inspect"),
    "resume": click.option(
        "--resume", is_flag=True, help="continue the newest stopped evaluation of the same program, data and settings"
    ),
    "no_track": click.option("--no-track", is_flag=True, help="log nothing to MLflow"),
}


def run_options(*left_out: str) -> Callable[[Function], Function]:
    """The options of a run but those ``left_out``: passes ``run``, a :class:`RunOptions`."""
    names = [name for name in _RUN_OPTIONS if name not in left_out]

    def decorate(function: Function) -> Function:
        @options(*(_RUN_OPTIONS[name] for name in names))
        @functools.wraps(function)
        def wrapped(**given: Any) -> Any:
            run = RunOptions(**{name: given.pop(name) for name in names})
            return function(run=run, **given)

        return wrapped

    return decorate


def open_tracker(*, writes: bool = False) -> Tracker:
    """The tracking store that the environment names; it is checked now where a run will be written (``writes``).

    Raises:
        TrackingError: The store cannot be written.
    """
    from experiments.tracking import Tracker, TrackingConfig

    tracker = Tracker(TrackingConfig.from_environment())
    if writes:
        tracker.check()
    return tracker


def _question_tracker(context: click.Context, _: click.Parameter, track: bool | None) -> Tracker | None:
    if track is False or context.resilient_parsing:
        return None
    tracker = open_tracker()
    return tracker if track or tracker.config.is_on else None


track_option = click.option(
    "--track/--no-track",
    "tracker",
    default=None,
    callback=_question_tracker,
    help="write a trace of each question to MLflow, or log nothing; by default traces are written where "
    "MLFLOW_TRACKING_URI is set or a tracking store is there already",
)
"""The tracking store of commands that ask single questions: passes ``tracker``, ``None`` to log nothing."""


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
