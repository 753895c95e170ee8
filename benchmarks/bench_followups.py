"""The number of 60 follow-up questions about geography are answered right, by kind of reference; no language model.

    python benchmarks/bench_followups.py --json out.json

The questions were written before the program that answers them, by its author. Each comes after one or two questions
that the program answers itself. The second row resolves by recency alone: the latest entity is always meant, whether or
not the graph gives it the property that is asked for.
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Sequence
from pathlib import Path

from experiments.console import format_table
from experiments.tasks import is_right, load_geography
from kg.coreference.entities import Resolution, resolve
from kg.coreference.referents import PastQuestion
from kg.graphs.context import GraphContext, TurnEntities
from kg.questions.graph import EntityGraph
from kg.questions.tagging import Question
from programs.graphs.entity_qa import EntityQA, EntityState

FOLLOW_UPS = Path(__file__).with_name("geography_followups.json")


class ByRecency(EntityQA):
    """Resolves without asking the graph who has which property."""

    def _resolve(
        self, graph: EntityGraph, question: Question, past: Sequence[PastQuestion], context: GraphContext
    ) -> Resolution:
        blind = copy.copy(graph)
        blind.has = lambda *_: True  # type: ignore[method-assign]
        return resolve(blind, question, past, context)

    def _context(self, state: EntityState, question: Question, past: Sequence[PastQuestion]) -> GraphContext:
        turns = [TurnEntities(turn.subjects, turn.results) for turn in past]
        named = [TurnEntities(question.entities)] if question.entities else []
        return state.retriever.for_turns([*turns, *named])


def main() -> None:
    """Prints a row for each way of resolving."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    graph = load_geography()
    follow_ups = json.loads(FOLLOW_UPS.read_text(encoding="utf-8"))
    kinds = list(dict.fromkeys(one["kind"] for one in follow_ups))
    results: dict[str, dict[str, int]] = {}
    for name, program in (("with graph context", EntityQA()), ("by recency alone", ByRecency())):
        right = dict.fromkeys(kinds, 0)
        for one in follow_ups:
            turn = program(graph=graph, questions=[*one["before"], one["question"]]).turns[-1]
            right[one["kind"]] += is_right(turn, one)
            if not is_right(turn, one):
                print(f"wrong {name}: {one['question']!r} -> {turn.canonical} {turn.words or turn.message}")
        results[name] = {**right, "right": sum(right.values()), "questions": len(follow_ups)}
    print(
        format_table(["", *kinds, "right", "questions"], [[name, *found.values()] for name, found in results.items()])
    )
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
