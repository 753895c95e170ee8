"""The share of right fields of an Understanding, before and after it is shown demonstrations.

    python benchmarks/understand_fields.py --train train.json --lm local/qwen2.5-coder-1.5b --turns 40 --demos 6

Labels come from the gold programs of train: operation, operands, line items and periods, kind of statement, and whether
anything is calculated; turns whose program says it unclearly are left out. The demonstrations (what the optimizer
labeled-few-shot adds) are of other reports than the turns that are asked. Line items and periods count as right when
they are the same set, operands when they are the same in order.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dspy  # noqa: E402
import numpy as np  # noqa: E402

from experiments.data import conversation_examples, load_conversations  # noqa: E402
from experiments.lms.config import LMConfig, reach_lm  # noqa: E402
from experiments.saved import find_program  # noqa: E402
from kg.errors import DataError  # noqa: E402
from optimize.metrics.statistics import bootstrap_mean  # noqa: E402
from optimize.prompts.turns import turn_examples  # noqa: E402
from programs.beam import BeamQA  # noqa: E402
from programs.wording.narrowing import understand_about  # noqa: E402
from programs.wording.reports import written_history, written_line_items  # noqa: E402
from signatures.understanding import Understanding  # noqa: E402

FIELDS: Mapping[str, Callable[[Understanding], Any]] = {
    "operation": lambda one: one.operation,
    "periods": lambda one: frozenset(one.periods),
    "properties": lambda one: frozenset(text.lower() for text in one.properties),
    "operands": lambda one: tuple(text.lower() for text in one.operands),
    "entity_type": lambda one: one.entity_type,
    "requires_calculation": lambda one: one.requires_calculation,
}


def measure(turn: BeamQA, examples: Sequence[dspy.Example], demos: Sequence[dspy.Example]) -> dict[str, list[bool]]:
    """For each field whether it is right, turn by turn; a reply that cannot be read has all fields wrong."""
    right: dict[str, list[bool]] = {name: [] for name in FIELDS}
    predictor = turn.understand.deepcopy()
    predictor.demos = [_demonstration(one) for one in demos]
    for example in examples:
        _, index = turn.reader.read(example.report.report)
        try:
            said = predictor(
                line_items=written_line_items(index),
                history=written_history(example.history.turns),
                question=example.question,
                signature=understand_about(predictor.signature, index),
            ).understanding
        except dspy.utils.exceptions.AdapterParseError:
            said = None
        for name, read in FIELDS.items():
            right[name].append(said is not None and read(said) == read(example.understanding))
    return right


def _demonstration(example: dspy.Example) -> dspy.Example:
    return dspy.Example(
        line_items=example.line_items,
        history=written_history(example.history.turns),
        question=example.question,
        understanding=example.understanding,
    )


def choose(path: str, turn: BeamQA, turns: int, demos: int, seed: int) -> tuple[list[dspy.Example], list[dspy.Example]]:
    """Labelled turns to ask about, and demonstrations of other reports, the shortest histories first."""
    examples = conversation_examples(load_conversations(path).conversations)
    order = np.random.default_rng(seed).permutation(len(examples))
    labelled = [
        one for place in order for one in turn_examples([examples[place]], turn.reader) if one.get("understanding")
    ]
    if len(labelled) < turns + demos:
        raise DataError(f"has {len(labelled)} turns with labels, of which {turns + demos} are needed", file=path)
    asked = labelled[:turns]
    reports = {one.report.report for one in asked}
    others = [one for one in labelled if one.report.report not in reports and len(one.line_items) < 400]
    by_operation: dict[str, dspy.Example] = {}
    for one in others:
        by_operation.setdefault(one.understanding.operation, one)
    first = list(by_operation.values())
    rest = [one for one in others if all(one is not other for other in first)]
    return asked, [*first, *rest][:demos]


def main() -> None:
    """Prints a row a field."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--program", default="beam")
    parser.add_argument("--lm", default="local")
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--demos", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    turn = find_program(options.program).program.turn
    assert isinstance(turn, BeamQA)
    asked, shown = choose(options.train, turn, options.turns, options.demos, options.seed)
    with dspy.context(**reach_lm(LMConfig(options.lm))):
        measured = {"before": measure(turn, asked, []), "after": measure(turn, asked, shown)}
    groups = [one.report.report.id for one in asked]
    figures = {}
    for name in FIELDS:
        both = {when: bootstrap_mean(groups, list(map(float, right[name])), seed=0) for when, right in measured.items()}
        figures[name] = {when: {"value": one.value, "low": one.low, "high": one.high} for when, one in both.items()}
        words = "   ".join(f"{when} {one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" for when, one in both.items())
        print(f"{name:22}{words}")
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
