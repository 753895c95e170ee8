"""Speed and memory of the beam, and where the time goes. Run by hand, not by the tests::

    python benchmarks/bench_beam.py --program experiments/shipped/beam --data dev.json --json speed.json

Every conversation is answered turn by turn from the beam's own earlier answers, after the graphs of all reports are
built and indexed. The profile is of a second pass, with cProfile on, which makes everything slower: its shares count.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from experiments.data import load_conversations  # noqa: E402
from experiments.saved import find_program  # noqa: E402
from kg.calculations.report_index import ReportIndex  # noqa: E402
from kg.calculations.scorer import DerivationScorer  # noqa: E402
from kg.calculations.space import WeightedHistory  # noqa: E402
from kg.calculations.turn_search import START, DerivationConfig, search_turn  # noqa: E402

STAGES = {
    "features of the figures": ("question_features.py", ("items", "__init__")),
    "features of the histories": ("operand_features.py", ("history_item_features", "earlier_answers")),
    "the encoder's question": ("pointers.py", ("__init__",)),
    "form model": ("forms.py", ("log_probabilities",)),
    "operands, of the networks and the encoder": ("space.py", ("_operands",)),
    "beam": ("beam.py", ("beam_search",)),
    "pool": ("ranking.py", ("pool",)),
    "features of the candidates": ("candidate_features.py", ("joint_features",)),
    "ranker and merging": ("ranking.py", ("rank",)),
    "next histories": ("search.py", ("next_histories",)),
}
"""The stages of a turn: functions whose time counts with all that they call. The beam's holds the form model and the
operand networks, that of the histories' features those of the figures, and the ranker's those of the candidates."""


@dataclass(frozen=True)
class Asked:
    """One conversation, ready to be answered."""

    index: ReportIndex
    questions: tuple[str, ...]


def answer(
    conversations: Sequence[Asked], scorer: DerivationScorer, config: DerivationConfig
) -> list[tuple[float, float]]:
    """Answers everything; the seconds of every turn, on the clock and of the processor.

    On a machine that does other things too, the second says what an idle one would need.
    """
    seconds: list[tuple[float, float]] = []
    for asked in conversations:
        histories: tuple[WeightedHistory, ...] = START
        for place in range(len(asked.questions)):
            start, worked = time.perf_counter(), time.process_time()
            found = search_turn(asked.index, asked.questions[: place + 1], histories, scorer, config)
            histories = found.next_histories(config.histories)
            seconds.append((time.perf_counter() - start, time.process_time() - worked))
    return seconds


def profile(conversations: Sequence[Asked], scorer: DerivationScorer, config: DerivationConfig) -> dict[str, float]:
    """The share of the time that each of :data:`STAGES` takes, in [0, 1]."""
    profiler = cProfile.Profile()
    profiler.runcall(answer, conversations, scorer, config)
    figures: dict[Any, Any] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    spent = {(Path(file).name, name): cumulative for (file, _, name), (_, _, _, cumulative, _) in figures.items()}
    total = spent["bench_beam.py", "answer"]
    return {
        stage: sum(spent.get((file, name), 0.0) for name in names) / total for stage, (file, names) in STAGES.items()
    }


def bench(program: str, data: str, histories: int) -> dict[str, object]:
    """Times a program's beam on every conversation of some data."""
    found = find_program(program).program
    scorer, config = found.scorer, found.config
    if scorer is None or not isinstance(config, DerivationConfig):
        raise SystemExit(f"{program} is no beam")
    config = replace(config, histories=histories)
    start = time.perf_counter()
    conversations = [
        Asked(found.turn.reader.read(one.report)[1], one.questions) for one in load_conversations(data).conversations
    ]
    building = time.perf_counter() - start
    before = _peak()
    with threadpool_limits(limits=1):
        answer(conversations[:3], scorer, config)  # what is computed once
        seconds, worked = zip(*answer(conversations, scorer, config), strict=True)
        after = _peak()
        shares = profile(conversations, scorer, config)
    return {
        "turns": len(seconds),
        "histories": histories,
        "seconds_per_turn_p50": float(np.percentile(seconds, 50)),
        "seconds_per_turn_p95": float(np.percentile(seconds, 95)),
        "processor_seconds_per_turn_p50": float(np.percentile(worked, 50)),
        "processor_seconds_per_turn_p95": float(np.percentile(worked, 95)),
        "seconds_to_build": building,
        "peak_megabytes": after,
        "peak_megabytes_before": before,
        "profile": shares,
    }


def _peak() -> float:
    """The most memory that the process has had resident, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def main() -> None:
    """Prints the figures and the table of the profile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="beam", help="a shipped program or a folder (beam)")
    parser.add_argument(
        "--data", default="sample:dev", help="conversations, as finpath evaluate takes them (sample:dev)"
    )
    parser.add_argument("--histories", type=int, default=10, help="histories that are kept (10)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    figures = bench(options.program, options.data, options.histories)
    shares = figures["profile"]
    for name, figure in figures.items():
        if name != "profile":
            print(f"{name:24} {figure:.4g}")
    for stage, share in shares.items() if isinstance(shares, dict) else ():
        print(f"  {stage:42} {100 * share:5.1f}%")
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
