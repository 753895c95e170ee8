"""The ``finpath`` command: reads arguments, calls the Python API, prints what it returns.

    finpath evaluate beam --data sample:dev --lm none --json out.json

Exit codes: 0 done, 1 a mistake in the input (said in one line, without a traceback), 2 wrong usage, 130 stopped by
Ctrl-C, 143 by SIGTERM. Nothing heavy is imported before the command that needs it runs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from experiments.commands import advisor_command, chat_command, demo_command, kgqa_command, schema_command
from experiments.commands import compare as compare_command
from experiments.commands import compile as compile_command
from experiments.commands import evaluate as evaluate_command
from experiments.commands import inspect as inspect_command
from experiments.commands import promote as promote_command
from experiments.commands import report as report_command
from experiments.commands.arguments import (
    PROGRAM,
    SOURCE,
    Parser,
    add_json,
    add_lm,
    add_program_settings,
    command,
    example_lines,
    lazy,
    positive,
    whole,
)
from experiments.console import check_json_target, say
from kg.errors import FinpathError

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands

_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# The matrices are small: more threads are never much faster, and three times slower on a busy machine.


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: What follows ``finpath`` on the command line; by default this process's own.

    Returns:
        The exit code.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    for name in _BLAS_THREADS:
        os.environ.setdefault(name, "1")
    try:
        options = build_parser(arguments).parse_args(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    try:
        _stop_on_sigterm()
        if getattr(options, "json", None):
            check_json_target(options.json)
        return options.run(options) or 0
    except FinpathError as error:
        say(f"finpath: {' '.join(str(error).split())}")
        return 1
    except KeyboardInterrupt as stop:
        say("finpath: stopped; what was done until now is on the run (an evaluation goes on with --resume)")
        return 143 if isinstance(stop, _Terminated) else 130
    except BrokenPipeError:
        # The reader (head, less) has gone; Python must not complain about it while it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


class _Terminated(KeyboardInterrupt):
    """SIGTERM: what is under way ends as it does on Ctrl-C, and its run is marked as killed."""


def _stop_on_sigterm() -> None:
    def stop(*_: object) -> None:
        raise _Terminated

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


def build_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of all commands.

    Args:
        arguments: The command line; the options of the graph commands are set up only where they are asked for,
            because that imports the graph.
    """
    parser = Parser(
        prog="finpath",
        description="Answers questions about financial reports by paths through a graph, with programs compiled in\n"
        "DSPy and compared as MLflow runs.",
        epilog=example_lines(
            "finpath demo",
            "finpath evaluate beam --data sample:dev",
            "finpath compile beam --optimizer scorer --train sample:train --dev sample:dev --out my-beam",
        ),
    )
    parser.add_argument("--version", action="version", version=f"finpath {version('finpath')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    for module in (compile_command, evaluate_command, compare_command):
        module.add_parser(commands)
    _add_ask(commands)
    for module in (inspect_command, report_command, promote_command, kgqa_command):
        module.add_parser(commands)
    _add_data(commands)
    _add_graph_and_ontology(commands, arguments)
    _add_lm_commands(commands)
    for module in (chat_command, advisor_command, schema_command, demo_command):
        module.add_parser(commands)
    return parser


def _add_ask(commands: Commands) -> None:
    parser = command(
        commands,
        "ask",
        "Answers questions about one report, with the arithmetic and where each figure stands",
        lazy("experiments.commands.ask"),
        'finpath ask MRLW/2020/page_49.pdf "what was the net income in 2020?" "and in 2018?"',
        'finpath ask my-report.json "what was the net income in 2009?"',
        'finpath ask income.csv balance.xlsx notes.md "what was the net income in 2009?"',
    )
    parser.add_argument(
        "report",
        help="a report's id in --data (a part of it will do where it is unique); a JSON file with "
        "id, pre_text, table and post_text; or files with tables (CSV, Excel, HTML, Markdown) and text",
    )
    parser.add_argument(
        "questions", nargs="+", metavar="QUESTION", help="a question, then those that follow on from it"
    )
    parser.add_argument("--data", metavar="SOURCE", default="sample:dev", help=f"{SOURCE} (sample:dev)")
    parser.add_argument("--program", default="beam", help=f"{PROGRAM} (beam)")
    parser.add_argument("--candidates", type=whole, default=0, metavar="N", help="show the first N candidates too")
    add_program_settings(parser)
    add_lm(parser)
    add_json(parser)


def _add_data(commands: Commands) -> None:
    parser = commands.add_parser(
        "data", help="Fetches and checks data sets", description="Fetches and checks data sets."
    )
    inner = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    fetch = command(
        inner,
        "fetch",
        "Fetches ConvFinQA as its authors publish it, checked against its hashes",
        lazy("experiments.data.download"),
        "finpath data fetch --out convfinqa",
    )
    fetch.add_argument("--out", default="convfinqa", metavar="FOLDER", help="where to put the files (convfinqa)")
    fetch.add_argument("--url", metavar="URL", help="fetch from here in place of the authors' repository")
    fetch.add_argument("--sha256", metavar="HASH", help="what the file at --url must hash to")
    check = command(
        inner,
        "check",
        "Reads conversations and names everything that breaks a rule of the format",
        lazy("experiments.commands.data"),
        "finpath data check sample:train",
        "finpath data check convfinqa/dev.json    # after `finpath data fetch`",
    )
    check.add_argument("source", metavar="SOURCE", help=SOURCE)
    add_json(check)


def _add_lm_commands(commands: Commands) -> None:
    parser = commands.add_parser("lm", help="Fetches and checks the embedded language models")
    inner = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    module = "experiments.commands.lm"
    pull = command(inner, "pull", "Fetches an embedded language model", lazy(module, "run_pull"), "finpath lm pull")
    pull.add_argument("model", nargs="?", help="by default the largest for which there is room")
    listed = command(inner, "list", "Lists the embedded language models", lazy(module, "run_list"), "finpath lm list")
    add_json(listed)
    check = command(inner, "check", "Hashes the models in the cache", lazy(module, "run_check"), "finpath lm check")
    check.add_argument("model", nargs="?", help="by default all that are there")
    served = command(
        inner,
        "serve",
        "Offers an embedded model to other programs of this machine, by the OpenAI protocol",
        lazy(module, "run_serve"),
        "finpath lm serve --port 8080",
        "finpath evaluate beam --data sample:dev --lm openai/qwen2.5-coder-1.5b --api-base http://127.0.0.1:8080/v1",
    )
    served.add_argument("model", nargs="?", help="by default the best that is there and fits into memory")
    served.add_argument("--port", type=positive, default=8080, metavar="N", help="where to listen (8080)")
    served.add_argument("--threads", type=positive, metavar="N", help="threads that compute (as many as are idle)")
    served.add_argument("--context", type=positive, default=8192, metavar="N", help="tokens that fit together (8192)")


def _add_graph_and_ontology(commands: Commands, arguments: Sequence[str]) -> None:
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    if first in ("graph", "ontology"):
        module = importlib.import_module("experiments.commands.graph")
        module.add_graph_commands(commands)
        module.add_ontology_commands(commands)
        return
    commands.add_parser("graph", help="Builds the graph of reports and checks it")
    commands.add_parser("ontology", help="Builds and shows an ontology")
