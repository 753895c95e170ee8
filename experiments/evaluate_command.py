"""``finpath evaluate``."""

from __future__ import annotations

import argparse

from experiments.console import say, show, write_json
from experiments.evaluate import evaluate, summary_table
from experiments.options import config_of, load_and_tell, tracker_of
from experiments.saved import find_program
from experiments.tracking import Tracker, TrackingConfig


def run_command(options: argparse.Namespace) -> int:
    """``finpath evaluate``; the exit code is 1 when no turn at all has an answer."""
    config = config_of(options)
    tracker = tracker_of(options)
    saved = find_program(options.program, tracker or Tracker(TrackingConfig.from_environment()))
    data = load_and_tell(options.data)
    evaluation = evaluate(saved, data, config, tracker=tracker, run_name=options.run_name)
    show(summary_table([evaluation]))
    if evaluation.run_id is not None:
        show(f"\nrun {evaluation.run_id} ({evaluation.name}); next: finpath inspect latest --failed --limit 5")
    if options.json:
        write_json(options.json, evaluation.figures)
    if all(score.failure is not None for score in evaluation.scores):
        say(f"finpath: no turn has an answer; the first: {evaluation.scores[0].message}")
        return 1
    return 0
