"""What the modules of the commands share: the parser, the options of runs and models, and the words of their help.

    def add_parser(commands: Commands) -> None:
        parser = command(commands, "evaluate", "Answers and scores", lazy("experiments.commands.evaluate"), "finpath …")
        add_lm(parser)

A command family ``x`` has its arguments in ``experiments/x_command.py``, which imports nothing heavy until it runs.
"""

from __future__ import annotations

import argparse
import importlib
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction["Parser"]

Command = Callable[[argparse.Namespace], int | None]

SOURCE = "a JSON file, a folder or data.zip in ConvFinQA's format, or the sample that ships: sample:train, sample:dev"
PROGRAM = (
    "the name of a program that ships (beam, agent), a saved program's folder, runs:/ID/program, models:/NAME/1 or "
    "models:/NAME@champion, "
    "or the name of a compile run"
)
RUN = "a run's id or name, `latest`, or `latest~1` for the one before it"


class Parser(argparse.ArgumentParser):
    """Shows descriptions and examples as they are written."""

    def __init__(self, *args: object, **options: object) -> None:
        options["formatter_class"] = argparse.RawDescriptionHelpFormatter
        super().__init__(*args, **options)  # type: ignore[arg-type]


def lazy(module: str, function: str = "run_command") -> Command:
    """A function of a module that is imported when it is called."""

    def run(options: argparse.Namespace) -> int | None:
        command: Command = getattr(importlib.import_module(module), function)
        return command(options)

    return run


def example_lines(*lines: str) -> str:
    """Command lines as a help text's last part."""
    return "examples:\n" + textwrap.indent("\n".join(lines), "  ")


def command(commands: Commands, name: str, summary: str, run: Command, *examples: str) -> Parser:
    """A new command, with a summary for the list of commands and examples for its own help."""
    parser = commands.add_parser(name, help=summary, description=f"{summary}.", epilog=example_lines(*examples))
    parser.set_defaults(run=run)
    return parser


def add_program_settings(parser: Parser) -> None:
    """``--set``."""
    parser.add_argument(
        "--set",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="how the program uses its language model: evidence=index, understand=true, samples=3, none_above=0.7, "
        "refuse=true, escalate=agent, or escalate=thoughts with max_iterations=2, votes=3, repairs=1, sentences=4",
    )


def add_json(parser: Parser) -> None:
    """``--json``."""
    parser.add_argument(
        "--json", metavar="FILE", help="write the figures to FILE under stable names (- for the terminal)"
    )


def add_lm(parser: Parser) -> None:
    """The language model and how it is asked."""
    group = parser.add_argument_group("language model")
    group.add_argument(
        "--lm",
        default="none",
        metavar="MODEL",
        help="none (the default): the beam's own score picks; local: the embedded model (`finpath lm pull`); or "
        "provider/model as DSPy names it, its key read from the environment",
    )
    add_lm_settings(group)


def add_lm_settings(group: argparse._ArgumentGroup) -> None:
    """Adds the settings of the language model, which ``experiments.commands.options.lm_config_of`` reads."""
    group.add_argument(
        "--api-base", metavar="URL", help="address of a server of your own, such as http://localhost:8080/v1"
    )
    group.add_argument("--temperature", type=float, default=0.0, help="0 (the default) for the most probable reply")
    group.add_argument("--max-tokens", type=positive, default=1024, help="the longest reply (1024)")
    group.add_argument("--budget", metavar="CAPS", help="stop asking after this much: calls=500,tokens=200000,usd=1.50")
    group.add_argument(
        "--timeout",
        type=float,
        default=120.0,
        metavar="SECONDS",
        help="how long a remote model may take to reply (120)",
    )
    group.add_argument(
        "--retries",
        type=whole,
        default=3,
        metavar="N",
        help="how often a call is tried again, with growing pauses, after a failure that may pass (3)",
    )
    group.add_argument(
        "--lm-threads",
        type=positive,
        metavar="N",
        help="threads that an embedded model computes with (as many as there are idle cores, at most 4)",
    )


def add_run(parser: Parser, data: str = "the data") -> None:
    """How an evaluation runs, and how it is tracked."""
    group = parser.add_argument_group("run")
    group.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of everything random (0)")
    group.add_argument("--limit", type=positive, metavar="N", help=f"only the first N conversations of {data}")
    group.add_argument(
        "--history",
        choices=["own", "gold"],
        default="own",
        help="what later turns see of earlier ones: the "
        "program's own answers (own, the default) or the right ones (gold, a diagnosis)",
    )
    group.add_argument(
        "--threads", type=positive, metavar="N", help="conversations at a time (1; 8 with a remote model)"
    )
    group.add_argument(
        "--run-name", metavar="NAME", help="the run's name in MLflow; compare and inspect find it by that"
    )
    group.add_argument(
        "--resume",
        action="store_true",
        help="go on with the newest evaluation of the same program, data and settings that was stopped",
    )
    group.add_argument(
        "--traces",
        choices=["none", "failed", "all"],
        default="all",
        help="of which turns MLflow keeps a trace with every prompt: none, failed (wrong or without an answer), all",
    )
    group.add_argument(
        "--pages",
        type=whole,
        default=10,
        metavar="N",
        help="keep a page to read of the first N conversations that went wrong (10)",
    )
    group.add_argument("--no-track", action="store_true", help="log nothing to MLflow")


def positive(text: str) -> int:
    """A whole number from 1, as ``type=`` of an argument."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(text)


def whole(text: str) -> int:
    """A whole number from 0, as ``type=`` of an argument."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number from 0, got {text!r}")
    return int(text)
