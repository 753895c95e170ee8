"""Questions with files, answered by Knowledge Graph of Thoughts: right, abstained and wrong, by kind of file.

    python benchmarks/thoughts.py --lm openai/gpt-4o-mini
    python benchmarks/thoughts.py --lm openai/reader --api-base http://127.0.0.1:8765/v1 --only bridge-2 storm-1

The 23 questions (the archive ``tasks``) are in GAIA's style: several files (CSV, HTML, text, Excel, nested
archives), several steps, and an answer that can be compared as text. Two of them have no answer in their files. Files
and questions were written for finpath, so no language model has seen them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from question_sets import unpacked  # noqa: E402

from experiments.evaluation import EvaluationConfig, evaluate  # noqa: E402
from experiments.lms import LMConfig  # noqa: E402
from experiments.saved import SavedProgram  # noqa: E402
from experiments.tasks import ThoughtsQuestions, ThoughtsSetup, read_tasks  # noqa: E402
from programs.thoughts import ThoughtsConfig  # noqa: E402

TASKS = unpacked("tasks") / "thoughts" / "tasks.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm", required=True)
    parser.add_argument("--api-base")
    parser.add_argument("--timeout", type=float, default=120.0)
    parser.add_argument("--retries", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=(), help="ids of questions")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    tasks = [one for one in read_tasks(TASKS) if not given.only or one.id in given.only]
    config = ThoughtsConfig(types="auto", retrieve="both", max_iterations=given.iterations, votes=1)
    task = ThoughtsQuestions(tasks, ThoughtsSetup(config=config), "thoughts")
    lm = LMConfig(given.lm, given.api_base, timeout=given.timeout, retries=given.retries)
    found = evaluate(SavedProgram(None, "thoughts", Path()), task, EvaluationConfig(lm=lm, threads=given.threads))
    by_kind: dict[str, list[str]] = defaultdict(list)
    for one, score in zip(found.turns, found.scores, strict=True):
        turn = found.turns[one]
        print(f"{one[0]:10} {score:10} {turn['answer']!r}  ({turn['lm_calls']} calls)  {turn['why'][:100]}")
        by_kind[one[0].partition("-")[0]].append(score)
    for kind, scores in by_kind.items():
        print(f"{kind:8} {scores.count('right')} of {len(scores)} right, {scores.count('wrong')} wrong")
    figures = found.figures
    low, high = figures["accuracy_low"], figures["accuracy_high"]
    print(f"{figures['right']} of {figures['questions']} right [{low:.1%}, {high:.1%}]", end=", ")
    print(f"{figures['abstained']} abstained, {figures['wrong']} wrong; ", end="")
    print(f"{figures['lm_calls_per_question']:.1f} calls a question")
    if given.json is not None:
        given.json.write_text(json.dumps({**figures, "answers": list(found.turns.values())}, indent=1, default=str))


if __name__ == "__main__":
    main()
