"""What a command line says, as the settings that the Python API takes.

options = build_parser().parse_args(["evaluate", "beam", "--data", "sample:dev", "--limit", "5"])
config_of(options)      # EvaluationConfig(limit=5, ...)
"""

from __future__ import annotations

import argparse

from experiments.console import say
from experiments.data.conversations import LoadedData, load_conversations
from experiments.evaluation.records import EvaluationConfig
from experiments.lms.config import LMConfig
from experiments.tracking.tracker import Tracker, TrackingConfig


def lm_config_of(options: argparse.Namespace, name: str | None = None) -> LMConfig:
    """The language model that a command line names, or the one of this name with the settings of the command line."""
    return LMConfig(
        options.lm if name is None else name,
        options.api_base,
        options.temperature,
        options.max_tokens,
        options.budget,
        options.retries,
        options.timeout,
        options.lm_threads,
    )


def config_of(options: argparse.Namespace) -> EvaluationConfig:
    """The settings that a command line names."""
    return EvaluationConfig(
        lm=lm_config_of(options),
        history=options.history,
        limit=options.limit,
        seed=options.seed,
        threads=options.threads,
        traces=options.traces,
        pages=options.pages,
    )


def tracker_of(options: argparse.Namespace) -> Tracker | None:
    """The tracking store that a command line and the environment name; ``None`` with ``--no-track``."""
    return None if options.no_track else Tracker(TrackingConfig.from_environment())


def load_and_tell(source: str) -> LoadedData:
    """Loads conversations and names the first of those that had to be left out."""
    data = load_conversations(source)
    for problem in data.problems[:5]:
        say(f"left out: {problem}")
    if len(data.problems) > 5:
        say(f"... and {len(data.problems) - 5} more; `finpath data check {source}` names them all")
    return data
