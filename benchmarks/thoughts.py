"""Questions with files, answered by Knowledge Graph of Thoughts: right, abstained and wrong, by kind of file.

    python benchmarks/thoughts.py --lm openai/gpt-4o-mini
    python benchmarks/thoughts.py --lm openai/reader --lm-set api_base=http://127.0.0.1:8765/v1 --only bridge-2 storm-1

The 23 questions (the archive ``tasks``) are in GAIA's style: several files (CSV, HTML, text, Excel, nested archives),
several steps, and an answer that is compared as GAIA does. Two of them have no answer in their files.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dspy
from question_sets import unpacked

from experiments.commands.main import read_lm
from experiments.commands.thoughts import copy_documents, thoughts_figures, thoughts_program
from experiments.data import read_types
from experiments.lms import reach_lm
from kg.growing import GrowingGraph
from optimize.metrics import is_same_answer


def read_tasks() -> list[dict[str, Any]]:
    """The questions: ``id``, ``question``, ``files`` and ``answers``, of which each is right; none if nothing is."""
    file = unpacked("tasks") / "thoughts" / "tasks.jsonl"
    tasks = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [{**task, "files": [str(file.parent / name) for name in task.get("files", ())]} for task in tasks]


def answer_tasks(
    tasks: Sequence[dict[str, Any]], settings: Mapping[str, str], today: date | None = None
) -> Iterator[tuple[dict[str, Any], str]]:
    """The figures of each question, answered from an empty graph of its own, and right, abstained or wrong."""
    types = read_types(settings.get("schema", "open"))
    for task in tasks:
        with TemporaryDirectory() as temporary, GrowingGraph(None, types) as graph:
            folder = copy_documents(task["files"], Path(temporary))
            thoughts = thoughts_program(settings, folder)(question=task["question"], graph=graph, today=today).thoughts
        answer, right = thoughts.answer, task["answers"]
        is_right = any(is_same_answer(answer, one) for one in right) if answer is not None else not right
        verdict = "right" if is_right else "abstained" if answer is None else "wrong"
        yield {"id": task["id"], **thoughts_figures(task["question"], thoughts)}, verdict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm", required=True)
    parser.add_argument("--lm-set", nargs="*", default=())
    parser.add_argument("--only", nargs="*", default=(), help="ids of questions")
    given = parser.parse_args()
    tasks = [task for task in read_tasks() if not given.only or task["id"] in given.only]
    verdicts = defaultdict(list)
    with dspy.context(**reach_lm(read_lm(given.lm, given.lm_set))):
        for figures, verdict in answer_tasks(tasks, {}):
            print(f"{figures['id']:10} {verdict:10} {figures['answer']!r}  {figures['why'][:100]}", flush=True)
            for kind in (figures["id"].partition("-")[0], "all"):
                verdicts[kind].append(verdict)
    for kind, found in verdicts.items():
        print(f"{kind:8} {found.count('right')} of {len(found)} right, {found.count('wrong')} wrong")


if __name__ == "__main__":
    main()
