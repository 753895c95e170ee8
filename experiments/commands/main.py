"""The ``finpath`` command, and what its verbs share: the language model, settings, the run, and the figures as JSON.

    @finpath.command("evaluate", epilog="finpath evaluate beam --data sample:dev --json out.json")
    @lm_options
    @run_options()
    @json_option
    def evaluate_program(lm: LMConfig, run: RunOptions, write_figures: WriteFigures) -> int: ...

Exit codes: 0 done, 1 a mistake in the input (reported in one line, without a traceback), 2 wrong usage, 130 stopped by
Ctrl-C, 143 by SIGTERM. The module of a verb is imported when it is used, and what is heavy when it runs.
"""

from __future__ import annotations

import errno
import functools
import importlib
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import click
from click.shell_completion import shell_complete

from experiments.console import json_output, say, say_left_out, why_unwritable
from kg.errors import ConfigError, FinpathError
from kg.secrets import without_secrets

if TYPE_CHECKING:
    from experiments.data import LoadedData
    from experiments.evaluation import EvaluationConfig
    from experiments.lms import LMConfig
    from experiments.tracking import Tracker

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
WriteFigures: TypeAlias = Callable[[Any], None]
"""Writes a mapping of figures, or a list of rows."""

SOURCE = "a JSON file or a folder in ConvFinQA's format, or the shipped sample: sample:train, sample:dev"
PROGRAM = (
    "the name of a shipped program (beam, agent), the folder of a saved program, runs:/ID/program, models:/NAME/1, "
    "models:/NAME@champion, or the name of a compile run"
)
PROGRAM_SETTINGS = "a setting of the program, such as page_tokens=3000 or seed=1; may be given several times"
COMPLETION = "_FINPATH_COMPLETE"
"""The environment variable by which a shell asks for completions: ``_FINPATH_COMPLETE=bash_source finpath``."""

POSITIVE = click.IntRange(min=1)
FILE = click.Path(readable=False, path_type=str)
"""Text that may be the path of a file or folder, which a shell completes."""

_TRACKED = ("compile", "evaluate", "compare", "inspect", "promote", "demo")
SERVERS = ("ui", "mcp", "mlflow")
"""The verbs that serve until they are stopped, and have no figures."""
_ASKING = ("ask", "chat", "thoughts", "ingest", "brief")
_VERBS = (*_TRACKED, "optimizers", *_ASKING, "data", "graph", "ontology", "lm", *SERVERS)
_MODULES = dict.fromkeys(("compare", "inspect", "promote", "mlflow"), "runs") | {
    "optimizers": "compile",
    "chat": "ask",
    "brief": "ingest",
    "ontology": "graph",
    "mcp": "ui",
}
"""The modules of verbs that have none of their own name."""
_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# The matrices are small: more threads are never much faster, and three times slower on a busy machine.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG)


class Target(click.Path):
    """A file or folder that the command writes; the place is tried while the command line is read."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the path, ``-`` for standard output; raises ConfigError where the place cannot be written."""
        path = str(super().convert(value, param, ctx))
        if path != "-" and (reason := why_unwritable(Path(os.path.realpath(path)))) is not None:
            raise ConfigError(f"{getattr(param, 'name', 'path')} must be writable, got {path}: {reason}")
        return path


OUT_FILE = Target(dir_okay=False, readable=False, allow_dash=True, path_type=str)
OUT_FOLDER = Target(file_okay=False, readable=False, path_type=str)
OUT_PLACE = Target(readable=False, path_type=str)


class Command(click.Command):
    """A command whose help ends with examples, one a line, as they are written."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the examples."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in inspect.cleandoc(self.epilog).splitlines():
                    formatter.write(f"{' ' * formatter.current_indent}{line}\n")


class Group(Command, click.Group):
    """A group of commands."""

    command_class: ClassVar[type[click.Command]] = Command  # type: ignore[misc]


class Verbs(Group):
    """The verbs of ``finpath``, each imported when it is first used."""

    group_class: ClassVar[type[click.Group]] = Group  # type: ignore[misc]

    def list_commands(self, _: click.Context) -> list[str]:
        """The names, in order."""
        return list(_VERBS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of a name, if there is one."""
        if cmd_name in _VERBS and cmd_name not in self.commands:
            importlib.import_module(f"experiments.commands.{_MODULES.get(cmd_name, cmd_name)}")
        return self.commands.get(cmd_name)


@click.group(
    cls=Verbs,
    context_settings={"max_content_width": 120, "help_option_names": ["-h", "--help"]},
    epilog="""
    finpath demo
    finpath evaluate beam --data sample:dev
    finpath compile beam --optimizer scorer --train sample:train --dev sample:dev --out my-beam
    """,
)
@click.version_option(package_name="finpath", prog_name="finpath", message="%(prog)s %(version)s")
def finpath() -> None:
    """Answers questions about financial reports by paths through a graph.

    The programs are compiled in DSPy and compared as MLflow runs.
    """


def gathered(name: str, build: Callable[..., Any], **options: Decorator) -> Decorator:
    """One argument of a command, ``name``, that ``build`` makes of the values of several options."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(**given: Any) -> Any:
            return function(**{name: build(**{option: given.pop(option) for option in options})}, **given)

        command: Callable[..., Any] = wrapped
        for option in reversed(options.values()):
            command = option(command)
        return command

    return decorate


json_option = gathered(
    "write_figures",
    lambda json: click.get_current_context().with_resource(json_output(json)),
    json=click.option(
        "--json", type=OUT_FILE, metavar="FILE", help="write the figures here (- for standard output, alone)"
    ),
)
"""Passes ``write_figures``, which writes a command's figures to the file that is named."""


def read_lm(lm: str | None, lm_set: Collection[str]) -> LMConfig | None:
    """The language model of ``--lm`` and ``--lm-set``; without ``--lm`` that of ``FINPATH_LM``, if there is one.

    Raises:
        ConfigError: There is no such setting, or its value is wrong.
        LMError: An embedded model that is not here.
    """
    if lm is None and not lm_set and "FINPATH_LM" not in os.environ:
        return None
    from experiments.lms import LMConfig, check_local

    config = LMConfig.parse(lm, read_pairs(lm_set, "lm-set"))
    if config is not None:
        check_local(config)
    return config


lm_options = gathered(
    "lm",
    read_lm,
    lm=click.option(
        "--lm",
        metavar="MODEL",
        help="none (the default); local: the embedded model (`finpath lm pull`); or provider/model as DSPy names it, "
        "with its key in the environment. FINPATH_LM has it for all commands, with settings after it",
    ),
    lm_set=click.option(
        "--lm-set",
        multiple=True,
        metavar="KEY=VALUE",
        help="a setting of the model: api_base=http://localhost:8080/v1 (a server), temperature=0, max_tokens=1024, "
        "timeout=120, retries=3, threads=4 (of an embedded model), budget=calls=500,tokens=200000,usd=1.50 (caps)",
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


def set_option(text: str) -> Decorator:
    """``--set``: passes ``settings``, a dictionary; ``text`` is the help."""
    return gathered(
        "settings",
        lambda settings: read_pairs(settings, "set"),
        settings=click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=text),
    )


data_option = click.option("--data", type=FILE, metavar="SOURCE", default="sample:dev", help=f"{SOURCE} (sample:dev)")
"""The data set of a report."""
program_option = click.option("--program", type=FILE, default="beam", metavar="PROGRAM", help=f"{PROGRAM} (beam)")
"""The program that answers, or has the ontology."""


@dataclass(frozen=True)
class RunOptions:
    """The settings of a run, and of its tracking: the values of the options of the same names."""

    seed: int = 0
    limit: int | None = None
    threads: int | None = None
    run_name: str | None = None
    resume: bool = False
    no_track: bool = False

    def config(self, lm: LMConfig | None, *, traces: bool = True) -> EvaluationConfig:
        """The settings of an evaluation with a language model, and whether its turns have a trace in MLflow."""
        from experiments.evaluation import EvaluationConfig

        return EvaluationConfig(lm=lm, limit=self.limit, seed=self.seed, threads=self.threads, traces=traces)

    def tracker(self) -> Tracker | None:
        """The tracking store; ``None`` with ``--no-track``."""
        return None if self.no_track else open_tracker(writes=True)


threads_option = click.option(
    "--threads", type=click.IntRange(1, 999), help="conversations, questions, documents at a time (1; remote: 8)"
)
_RUN_OPTIONS: dict[str, Decorator] = {
    "seed": click.option("--seed", type=click.IntRange(min=0), default=0, help="seed of all random choices (0)"),
    "limit": click.option("--limit", type=POSITIVE, help="only the first N conversations or questions"),
    "threads": threads_option,
    "run_name": click.option("--run-name", metavar="NAME", help="the run's name in MLflow, for compare, inspect"),
    "resume": click.option(
        "--resume", is_flag=True, help="continue the newest stopped evaluation of the same settings"
    ),
    "no_track": click.option("--no-track", is_flag=True, help="log nothing to MLflow"),
}


def run_options(*left_out: str) -> Decorator:
    """The options of a run but those ``left_out``: passes ``run``, a :class:`RunOptions`."""
    return gathered("run", RunOptions, **{name: _RUN_OPTIONS[name] for name in _RUN_OPTIONS if name not in left_out})


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


def _question_tracker(no_track: bool) -> Tracker | None:
    tracker = None if no_track else open_tracker()
    return tracker if tracker is not None and tracker.config.is_on else None


track_option = gathered("tracker", _question_tracker, no_track=_RUN_OPTIONS["no_track"])
"""Passes ``tracker``, the store that the environment names or that is there already; else ``None``, to log nothing."""


def load_and_report(source: str) -> LoadedData:
    """Loads conversations and names the first of those that were left out."""
    from experiments.data import load_conversations

    data = load_conversations(source)
    say_left_out(list(map(str, data.problems)))
    return data


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: The command line after ``finpath``; by default that of this process.

    Returns:
        The exit code.
    """
    for name in _BLAS_THREADS:
        os.environ.setdefault(name, "1")
    if COMPLETION in os.environ:
        return shell_complete(finpath, {}, "finpath", COMPLETION, os.environ[COMPLETION])
    try:
        _stop_on_sigterm()
        with finpath.make_context("finpath", sys.argv[1:] if arguments is None else list(arguments)) as context:
            return finpath.invoke(context) or 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.UsageError as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        # The reader (head, less) has gone; Python must not complain about it while it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if (reason := _reason(error)) is None:
            raise
        say(f"finpath: {reason}")
        return 1
    except KeyboardInterrupt as stop:
        say("; ".join(["finpath: stopped", *getattr(stop, "__notes__", [])[:1]]))
        return 143 if isinstance(stop, _Terminated) else 130


def _reason(error: Exception) -> str | None:
    """One line for a mistake in the input, a language model, the tracking store or a disk; otherwise ``None``.

    DSPy and MLflow are not imported to find out.
    """
    if isinstance(error, FinpathError):
        return " ".join(str(error).split())
    # What follows the first line is advice on DSPy's Python API, or the store's statement with its values.
    first = without_secrets(str(error).strip().partition("\n")[0])
    models, stores = sys.modules.get("dspy.utils.exceptions"), sys.modules.get("mlflow.exceptions")
    if models is not None and isinstance(error, models.LMError):
        return f"the language model does not answer: {first}"
    if stores is not None and isinstance(error, stores.MlflowException):
        return f"the tracking store does not take it: {first}; what was done before is kept, --resume goes on"
    if isinstance(error, OSError) and error.errno in (*_DISK, errno.ENAMETOOLONG):
        access = "written" if error.errno in _DISK else "opened"
        return f"{str(error.filename or 'a file')[:100]}: cannot be {access}: {error.strerror}"
    return None


class _Terminated(KeyboardInterrupt):
    """SIGTERM: the work under way ends as it does on Ctrl-C, and its run is marked as killed."""


def _stop_on_sigterm() -> None:
    def stop(*_: object) -> None:
        raise _Terminated

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)
