"""Questions about tables of one's own: 36 small reports in CSV, Markdown, HTML and JSON.

Their author did not know finpath::

    python benchmarks/own_tables.py held_out --answer confident

The reports are in three parts. Read ``dev1`` and ``dev2`` as you like, and report on ``held_out``, which nobody reads.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

from question_sets import unpacked

from experiments.saved import find_program, with_program_settings
from kg.calculations import same_name
from kg.readers import read_files
from kg.reports import Report
from kg.search import Answer

FOLDER = unpacked("tables") / "own_tables"


def is_right(answer: Answer | None, gold: str | list[str] | None) -> bool:
    """Whether an answer is the gold one: numbers to half a thousandth, a percentage also as a fraction."""
    if answer is None or gold is None:
        return answer is None and gold is None
    if isinstance(gold, list):
        return isinstance(answer, tuple) and len(answer) == len(gold) and all(map(same_name, answer, gold))
    if not isinstance(answer, Decimal) or gold in ("yes", "no"):
        return answer == gold
    number = Decimal(gold.removesuffix("%"))
    readings = [number, number / 100] if gold.endswith("%") else [number]
    return any(abs(answer - one) <= max(abs(one) * Decimal("0.0005"), Decimal("0.00001")) for one in readings)


def kind_of(gold: str | list[str] | None) -> str:
    """The kind of a gold answer."""
    if gold is None:
        return "unanswerable"
    return "names" if isinstance(gold, list) else "yes or no" if gold in ("yes", "no") else "number"


def report_of(paths: list[str]) -> Report:
    """The report of one or more files."""
    if paths[0].endswith(".json"):
        record: dict[str, Any] = json.loads((FOLDER / paths[0]).read_text(encoding="utf-8"))
        table = tuple(map(tuple, record["table"]))
        return Report(record["id"], tuple(record["pre_text"]), table, tuple(record["post_text"]))
    return read_files([FOLDER / path for path in paths]).report


def main() -> None:
    """Answers the questions of a part and prints, by kind, how many are answered and right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["dev1", "dev2", "held_out"])
    parser.add_argument("--program", default="beam")
    parser.add_argument("--answer", choices=["always", "confident"], default="confident")
    options = parser.parse_args()
    part = set(json.loads((FOLDER / "part.json").read_text(encoding="utf-8"))[options.part])
    program = with_program_settings(find_program(options.program).program, {"answer": options.answer})
    counts: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for line in (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        paths = one["report"] if isinstance(one["report"], list) else [one["report"]]
        if Path(paths[0]).parts[1].partition(".")[0] not in part:
            continue
        turns = program(report=report_of(paths), questions=one["questions"]).turns
        for turn, gold in zip(turns, one["answers"], strict=True):
            counts[kind_of(gold)].append((turn.answer is not None, is_right(turn.answer, gold)))
    for kind, found in sorted(counts.items()):
        answered, right = (sum(one[place] for one in found) for place in (0, 1))
        print(f"{kind:14} {len(found):4} turns, answered {answered:4}, right {right:4}")


if __name__ == "__main__":
    main()
