"""Four of the benchmark's questions with files, answered from recorded replies to the very prompts of the loop.

The replies were written by the author of the questions, so they show that the loop works, not how often it is right.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import dspy

from benchmarks.thoughts import answer_tasks, read_tasks
from tests.replay import replay_settings

RECORDED = Path(__file__).resolve().parents[3] / "tests" / "data" / "transcripts" / "thoughts.jsonl"
ASKED = ("museum-5", "bridge-2", "choir-1", "storm-1")


def test_recorded_replies_answer_questions_with_files() -> None:
    tasks = read_tasks()
    assert (len(tasks), sum(not task["answers"] for task in tasks)) == (23, 2)
    settings = {"max_iterations": "2", "explain": "true"}
    chosen = [task for task in tasks if task["id"] in ASKED]
    with dspy.context(**replay_settings(RECORDED)):
        results = list(answer_tasks(chosen, settings, date(2026, 11, 22)))
    assert [verdict for _, verdict in results] == ["right"] * 4
    answers = {figures["id"]: figures for figures, _ in results}
    assert {fact["statement"] for fact in answers["bridge-2"]["facts"]} == {
        "Old Bridge -> stands_in -> Arvika Ford",
        "Old Bridge: opened 1688",
        "Arvika Ford: inhabitants 3150",
    }
    assert answers["bridge-2"]["explanation"].startswith("Old Bridge, opened in 1688, is the oldest.")
    left = answers["choir-1"]
    assert (left["answer"], left["calculation"]) == ("980", "multiply(16, 85), subtract(2340, #0)")
    assert answers["museum-5"]["abstained"]
