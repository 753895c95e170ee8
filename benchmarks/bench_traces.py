"""The cost of tracing an evaluation without a language model: processor seconds for the 127 turns of ``sample:dev``.

    python benchmarks/bench_traces.py

Each line is one evaluation by the beam that ships, all in one process and one new store; a first one, of three
conversations, is not shown.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.data import load_conversations
from experiments.evaluation import EvaluationConfig, TracesKept, evaluate
from experiments.saved import find_program
from experiments.tasks import ConvFinQA
from experiments.tracking import Tracker, TrackingConfig


def processor_seconds() -> float:
    """The processor time that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="how often each is measured (2)")
    options = parser.parse_args()
    saved, data = find_program("beam"), load_conversations("sample:dev")
    kept: tuple[TracesKept | None, ...] = (None, "none", "failed", "all")
    with tempfile.TemporaryDirectory() as folder:
        tracker = Tracker(TrackingConfig(f"sqlite:///{folder}/mlflow.db"))
        evaluate(saved, ConvFinQA(data), EvaluationConfig(limit=3), tracker=tracker)
        for _ in range(options.rounds):
            for traces in kept:
                start, wall = processor_seconds(), time.perf_counter()
                config = EvaluationConfig(traces=traces) if traces is not None else EvaluationConfig()
                evaluate(saved, ConvFinQA(data), config, tracker=tracker if traces is not None else None)
                used, passed = processor_seconds() - start, time.perf_counter() - wall
                name = f"traces {traces}" if traces is not None else "untracked"
                sys.stdout.write(f"{name:14} {used:.2f} s of processor time, {passed:.2f} s\n")


if __name__ == "__main__":
    main()
