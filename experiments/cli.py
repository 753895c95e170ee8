"""The ``finpath`` command: reads arguments, calls the Python API, prints what it returns.

    finpath evaluate beam --data sample:dev --lm none --json out.json

Exit codes: 0 done, 1 a mistake in the input (said in one line, without a traceback), 2 wrong usage, 130 stopped by
Ctrl-C. Nothing heavy is imported before the command that needs it runs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import textwrap
from collections.abc import Callable, Sequence

import finpath
from experiments.console import check_json_target, say
from kg.errors import FinpathError

Command = Callable[[argparse.Namespace], int | None]

_SOURCE = "a JSON file, a folder or data.zip in ConvFinQA's format, or the sample that ships: sample:train, sample:dev"
_PROGRAM = (
    "the name of a program that ships (beam), a saved program's folder, runs:/ID/program, models:/NAME/1, "
    "or the name of a compile run"
)
_RUN = "a run's id or name, `latest`, or `latest~1` for the one before it"

_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# The matrices are small: more threads are never much faster, and three times slower on a busy machine.


class _Parser(argparse.ArgumentParser):
    """Shows descriptions and examples as they are written."""

    def __init__(self, *args: object, **options: object) -> None:
        options["formatter_class"] = argparse.RawDescriptionHelpFormatter
        super().__init__(*args, **options)  # type: ignore[arg-type]


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
        if getattr(options, "json", None):
            check_json_target(options.json)
        return options.run(options) or 0
    except FinpathError as error:
        say(f"finpath: {' '.join(str(error).split())}")
        return 1
    except KeyboardInterrupt:
        say("finpath: stopped; what was done until now is on the run")
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone; Python must not complain about it while it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def build_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of all commands.

    Args:
        arguments: The command line; the options of the graph commands are set up only where they are asked for,
            because that imports the graph.
    """
    parser = _Parser(
        prog="finpath",
        description="Answers questions about financial reports by paths through a graph, with programs compiled in\n"
        "DSPy and compared as MLflow runs.",
        epilog=_examples(
            "finpath demo",
            "finpath evaluate beam --data sample:dev",
            "finpath compile beam --optimizer scorer --train sample:train --dev sample:dev --out my-beam",
        ),
    )
    parser.add_argument("--version", action="version", version=f"finpath {finpath.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    _add_compile(commands)
    _add_evaluate(commands)
    _add_compare(commands)
    _add_ask(commands)
    _add_inspect(commands)
    _add_data(commands)
    _add_graph_and_ontology(commands, arguments)
    _add_lm_commands(commands)
    _add_demo(commands)
    return parser


def _lazy(module: str, function: str = "run_command") -> Command:
    def run(options: argparse.Namespace) -> int | None:
        command: Command = getattr(importlib.import_module(module), function)
        return command(options)

    return run


def _examples(*lines: str) -> str:
    return "examples:\n" + textwrap.indent("\n".join(lines), "  ")


def _command(
    commands: argparse._SubParsersAction[_Parser], name: str, summary: str, run: Command, *examples: str
) -> _Parser:
    parser = commands.add_parser(name, help=summary, description=f"{summary}.", epilog=_examples(*examples))
    parser.set_defaults(run=run)
    return parser


def _add_json(parser: _Parser) -> None:
    parser.add_argument(
        "--json", metavar="FILE", help="write the figures to FILE under stable names (- for the terminal)"
    )


def _add_lm(parser: _Parser) -> None:
    group = parser.add_argument_group("language model")
    group.add_argument(
        "--lm",
        default="none",
        metavar="MODEL",
        help="none (the default): the beam's own score picks; local: the embedded model (`finpath lm pull`); or "
        "provider/model as DSPy names it, its key read from the environment",
    )
    group.add_argument(
        "--api-base", metavar="URL", help="address of a server of your own, such as http://localhost:8080/v1"
    )
    group.add_argument("--temperature", type=float, default=0.0, help="0 (the default) for the most probable reply")
    group.add_argument("--max-tokens", type=_positive, default=1024, help="the longest reply (1024)")
    group.add_argument("--budget", metavar="CAPS", help="stop asking after this much: calls=500,tokens=200000,usd=1.50")


def _add_run(parser: _Parser, data: str = "the data") -> None:
    group = parser.add_argument_group("run")
    group.add_argument("--seed", type=_whole, default=0, metavar="N", help="seed of everything random (0)")
    group.add_argument("--limit", type=_positive, metavar="N", help=f"only the first N conversations of {data}")
    group.add_argument(
        "--history",
        choices=["own", "gold"],
        default="own",
        help="what later turns see of earlier ones: the "
        "program's own answers (own, the default) or the right ones (gold, a diagnosis)",
    )
    group.add_argument(
        "--threads", type=_positive, metavar="N", help="conversations at a time (1; 8 with a remote model)"
    )
    group.add_argument(
        "--run-name", metavar="NAME", help="the run's name in MLflow; compare and inspect find it by that"
    )
    group.add_argument("--no-track", action="store_true", help="log nothing to MLflow")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(text)


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number from 0, got {text!r}")
    return int(text)


def _add_compile(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _command(
        commands,
        "compile",
        "Fits a program to a train split, evaluates it on a dev split and saves it",
        _lazy("experiments.compile"),
        "finpath compile beam --optimizer scorer --train sample:train --dev sample:dev --out my-beam",
        "finpath compile beam --optimizer none --train sample:train --out uncompiled    # the ontology only",
        "finpath compile beam --train convfinqa/train.json --dev convfinqa/dev.json    # after `finpath data fetch`",
    )
    parser.add_argument(
        "program",
        help="beam, to start with nothing fitted; or a saved program to go on from: a folder, runs:/ID/program, "
        "models:/NAME/1 or the name of a compile run",
    )
    parser.add_argument(
        "--optimizer", default="scorer", metavar="NAME[,NAME]", help="optimizers, one after the other, or none (scorer)"
    )
    parser.add_argument(
        "--train", required=True, nargs="+", metavar="SOURCE", help=f"{_SOURCE}; several are taken together"
    )
    parser.add_argument(
        "--dialogues",
        metavar="FILE",
        help="training conversations without reports: a JSON object a line with id, dialogue_break, turn_program",
    )
    parser.add_argument("--dev", metavar="SOURCE", help="evaluate the compiled program on this")
    parser.add_argument(
        "--out", metavar="FOLDER", help="save the compiled program here (it is always saved on its run)"
    )
    _add_lm(parser)
    _add_run(parser, data="the dev split")
    _add_json(parser)


def _add_evaluate(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _command(
        commands,
        "evaluate",
        "Runs a program over conversations and scores it by the official metric",
        _lazy("experiments.evaluate_command"),
        "finpath evaluate beam --data sample:dev",
        "finpath evaluate beam --data convfinqa/dev.json --limit 50 --json out.json    # after `finpath data fetch`",
        "finpath evaluate beam --data sample:dev --lm openai/gpt-4o-mini    # the key is in OPENAI_API_KEY",
        "finpath evaluate beam --data sample:dev --lm openai/qwen --api-base http://localhost:8080/v1",
    )
    parser.add_argument("program", help=_PROGRAM)
    parser.add_argument("--data", required=True, metavar="SOURCE", help=_SOURCE)
    _add_lm(parser)
    _add_run(parser)
    _add_json(parser)


def _add_compare(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _command(
        commands,
        "compare",
        "Sets evaluations side by side on the same turns, by paired tests",
        _lazy("experiments.compare"),
        "finpath compare latest~1 latest",
        "finpath compare 'beam on sample/dev.json' latest --json out.json",
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help=f"{_RUN}; the first is what the others are compared with"
    )
    parser.add_argument("--seed", type=_whole, default=0, metavar="N", help="seed of the bootstrap (0)")
    parser.add_argument(
        "--changed", type=_whole, default=10, metavar="N", help="show at most N turns that changed (10)"
    )
    parser.add_argument("--no-track", action="store_true", help="log nothing to MLflow")
    _add_json(parser)


def _add_ask(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _command(
        commands,
        "ask",
        "Answers questions about one report, with the arithmetic and where each figure stands",
        _lazy("experiments.ask"),
        'finpath ask MRLW/2020/page_49.pdf "what was the net income in 2020?" "and in 2018?"',
        'finpath ask my-report.json "what was the net income in 2009?"',
    )
    parser.add_argument(
        "report",
        help="a report's id in --data (a part of it will do where it is unique), or a JSON file with "
        "id, pre_text, table and post_text",
    )
    parser.add_argument(
        "questions", nargs="+", metavar="QUESTION", help="a question, then those that follow on from it"
    )
    parser.add_argument("--data", metavar="SOURCE", default="sample:dev", help=f"{_SOURCE} (sample:dev)")
    parser.add_argument("--program", default="beam", help=f"{_PROGRAM} (beam)")
    parser.add_argument("--candidates", type=_whole, default=0, metavar="N", help="show the first N candidates too")
    _add_lm(parser)
    _add_json(parser)


def _add_inspect(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _command(
        commands,
        "inspect",
        "Shows the turns of an evaluation: question, answer, gold, rank of the gold, candidates",
        _lazy("experiments.inspect_runs"),
        "finpath inspect latest --failed --limit 5",
        "finpath inspect latest --turn Single_MRLW/2020/page_49.pdf-1:2    # after an evaluation on sample:dev",
    )
    parser.add_argument("run_reference", metavar="RUN", help=_RUN)
    parser.add_argument("--failed", action="store_true", help="only turns that are wrong or have no answer")
    parser.add_argument(
        "--turn", metavar="CONVERSATION:INDEX", help="one turn, with all candidates; the index counts from 0"
    )
    parser.add_argument("--limit", type=_positive, default=20, metavar="N", help="at most N turns (20)")
    _add_json(parser)


def _add_data(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser(
        "data", help="Fetches and checks data sets", description="Fetches and checks data sets."
    )
    inner = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    fetch = _command(
        inner,
        "fetch",
        "Fetches ConvFinQA as its authors publish it, checked against its hashes",
        _lazy("experiments.fetch"),
        "finpath data fetch --out convfinqa",
    )
    fetch.add_argument("--out", default="convfinqa", metavar="FOLDER", help="where to put the files (convfinqa)")
    fetch.add_argument("--url", metavar="URL", help="fetch from here in place of the authors' repository")
    fetch.add_argument("--sha256", metavar="HASH", help="what the file at --url must hash to")
    check = _command(
        inner,
        "check",
        "Reads conversations and names everything that breaks a rule of the format",
        _lazy("experiments.data_check"),
        "finpath data check sample:train",
        "finpath data check convfinqa/dev.json    # after `finpath data fetch`",
    )
    check.add_argument("source", metavar="SOURCE", help=_SOURCE)
    _add_json(check)


def _add_lm_commands(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser("lm", help="Fetches and checks the embedded language models")
    inner = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    module = "experiments.lm_command"
    pull = _command(inner, "pull", "Fetches an embedded language model", _lazy(module, "run_pull"), "finpath lm pull")
    pull.add_argument("model", nargs="?", help="by default the largest for which there is room")
    listed = _command(inner, "list", "Lists the embedded language models", _lazy(module, "run_list"), "finpath lm list")
    _add_json(listed)
    check = _command(inner, "check", "Hashes the models in the cache", _lazy(module, "run_check"), "finpath lm check")
    check.add_argument("model", nargs="?", help="by default all that are there")
    served = _command(
        inner,
        "serve",
        "Offers an embedded model to other programs of this machine, by the OpenAI protocol",
        _lazy(module, "run_serve"),
        "finpath lm serve --port 8080",
        "finpath evaluate beam --data sample:dev --lm openai/qwen2.5-coder-1.5b --api-base http://127.0.0.1:8080/v1",
    )
    served.add_argument("model", nargs="?", help="by default the best that is there and fits into memory")
    served.add_argument("--port", type=_positive, default=8080, metavar="N", help="where to listen (8080)")
    served.add_argument("--threads", type=_positive, metavar="N", help="threads that compute (as many as are idle)")
    served.add_argument("--context", type=_positive, default=8192, metavar="N", help="tokens that fit together (8192)")


def _add_graph_and_ontology(commands: argparse._SubParsersAction[_Parser], arguments: Sequence[str]) -> None:
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    if first in ("graph", "ontology"):
        module = importlib.import_module("experiments.graph_check")
        module.add_graph_commands(commands)
        module.add_ontology_commands(commands)
        return
    commands.add_parser("graph", help="Builds the graph of reports and checks it")
    commands.add_parser("ontology", help="Builds and shows an ontology")


def _add_demo(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _command(
        commands,
        "demo",
        "Goes the whole way on the sample that ships: compile, evaluate, compare",
        _lazy("experiments.demo"),
        "finpath demo",
    )
    parser.add_argument("--seed", type=_whole, default=0, metavar="N", help="seed of everything random (0)")
    parser.add_argument(
        "--out", default="runs/demo", metavar="FOLDER", help="where the compiled program is saved (runs/demo)"
    )
    _add_json(parser)
