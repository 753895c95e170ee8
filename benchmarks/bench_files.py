"""Small reports as files, with questions that they answer and that they do not; a number is the most conversations.

    $ python benchmarks/bench_files.py 8
    {'turns': 22, 'right': 8, 'answered_share': 0.5, 'accuracy_when_answered': 0.7272727272727273, ...}

The writer of the questions (``own_tables`` of the archive ``tables``) saw no code; the part ``held_out`` is not asked.
"""

import json
import sys
from collections.abc import Iterator

from question_sets import unpacked

import finpath
from optimize.metrics import AnswerScore, abstention_figures, read_gold


def scores(count: int | None) -> Iterator[AnswerScore]:
    """The turns of the first ``count`` conversations, or of all."""
    folder, program = unpacked("tables") / "own_tables", finpath.load("beam")
    held_out = json.loads((folder / "part.json").read_text(encoding="utf-8"))["held_out"]
    lines = map(json.loads, (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    for line in [line for line in lines if line["id"].rpartition("-")[0] not in held_out][:count]:
        files = [folder / name for name in ([line["report"]] if isinstance(line["report"], str) else line["report"])]
        turns = program(report=finpath.read(*files), questions=line["questions"]).turns
        for turn, gold in zip(turns, line["answers"], strict=True):
            yield AnswerScore(turn.answer if turn.failure is None else None, turn.confidence or 0.0, read_gold(gold))


if __name__ == "__main__":
    scored = list(scores(int(sys.argv[1]) if sys.argv[1:] else None))
    print({"turns": len(scored), "right": sum(turn.is_right for turn in scored), **abstention_figures(scored)})
