"""Follow-up questions about the shipped graph of countries without a language model: 60, by kind of reference.

    python benchmarks/bench_followups.py

The questions were written before the program that answers them, by its author. Each comes after one or two questions
that the program answers itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from experiments.console import format_table
from experiments.facade import graph_of
from kg.parsing import QuestionReader
from programs.conversation import ConversationQA
from programs.worlds.graph import GraphTurn

FOLLOW_UPS = Path(__file__).with_name("geography_followups.json")


def load_geography() -> QuestionReader:
    """Returns the reader of questions about the graph of countries and cities."""
    return graph_of(["geography"])["graph"]


def is_right(turn: GraphTurn, expected: Mapping[str, Any]) -> bool:
    """Whether a turn's answer is the expected one.

    Args:
        turn: The turn.
        expected: ``entities`` (names, in any order), ``value`` (to five decimal places), ``values`` (of each name) or
            ``answer`` (yes or no).
    """
    answer = turn.answer
    if "answer" in expected:
        return bool(answer == expected["answer"])
    if "value" in expected:
        written = answer[0] if isinstance(answer, tuple) and len(answer) == 1 else answer
        wanted = Decimal(expected["value"])
        number = Decimal(written) if isinstance(written, str) and written.isdigit() else written
        return isinstance(number, Decimal) and abs(number - wanted) <= abs(wanted) * Decimal("0.00001")
    wanted_names = expected["entities"] if "entities" in expected else expected["values"].values()
    return isinstance(answer, tuple) and sorted(answer) == sorted(wanted_names)


def main() -> None:
    """Prints the number of right answers by kind, and each wrong one."""
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
    print(format_table([*kinds, "right", "questions"], [[*right.values(), sum(right.values()), len(follow_ups)]]))


if __name__ == "__main__":
    main()
