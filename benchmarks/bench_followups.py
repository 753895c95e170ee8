"""The number of 60 follow-up questions about geography are answered right, by kind of reference; no language model.

    python benchmarks/bench_followups.py --json out.json

The questions were written before the program that answers them, by its author. Each comes after one or two questions
that the program answers itself.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from experiments.console import format_table
from experiments.tasks import is_right, load_geography
from programs.conversation import ConversationQA

FOLLOW_UPS = Path(__file__).with_name("geography_followups.json")


def main() -> None:
    """Prints a row for each way of resolving."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    graph = load_geography()
    follow_ups = json.loads(FOLLOW_UPS.read_text(encoding="utf-8"))
    kinds = list(dict.fromkeys(one["kind"] for one in follow_ups))
    program = ConversationQA.for_graphs()
    right = dict.fromkeys(kinds, 0)
    for one in follow_ups:
        turn = program(graph=graph, questions=[*one["before"], one["question"]]).turns[-1]
        right[one["kind"]] += is_right(turn, one)
        if not is_right(turn, one):
            print(f"wrong: {one['question']!r} -> {turn.canonical} {turn.words or turn.message}")
    results = {**right, "right": sum(right.values()), "questions": len(follow_ups)}
    print(format_table([*kinds, "right", "questions"], [[*results.values()]]))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
