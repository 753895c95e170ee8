"""``finpath demo``: the arguments, and which demonstration they mean."""

from __future__ import annotations

import argparse
import importlib
from typing import TYPE_CHECKING

from experiments.commands.arguments import add_json, add_lm, command, positive, whole

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands


def add_parser(commands: Commands) -> None:
    """Adds ``finpath demo``."""
    parser = command(
        commands,
        "demo",
        "Goes the whole way on the sample that ships: compile, evaluate, compare; or talks about geography",
        run_command,
        "finpath demo",
        "finpath demo geography --json out.json",
        "finpath demo advisor --lm local --limit 5",
    )
    parser.add_argument(
        "which",
        nargs="?",
        choices=["reports", "geography", "advisor"],
        default="reports",
        help="reports: compile, evaluate and compare (the default); geography: three conversations about a graph of "
        "countries, whose follow-up questions are resolved without a language model; advisor: a graph that grows",
    )
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of everything random (0)")
    parser.add_argument(
        "--out", default="runs/demo", metavar="FOLDER", help="where the compiled program is saved (runs/demo)"
    )
    parser.add_argument("--no-track", action="store_true", help="log nothing to MLflow (advisor)")
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N questions (advisor)")
    parser.add_argument(
        "--reader",
        choices=["model", "rules"],
        default="model",
        help="with a language model: who reads the documents, it (the default) or the rules (advisor)",
    )
    add_lm(parser)
    add_json(parser)


def run_command(options: argparse.Namespace) -> int | None:
    """Runs the demonstration that was asked for."""
    if options.which == "geography":
        return int(importlib.import_module("experiments.tasks.geography").run_demo(options))
    if options.which == "advisor":
        return int(importlib.import_module("experiments.commands.advisor_demo").run_demo(options))
    importlib.import_module("experiments.commands.demo").run_command(options)
    return None
