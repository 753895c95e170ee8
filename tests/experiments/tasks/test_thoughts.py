"""Four of the benchmark's questions with files, answered from recorded replies to the very prompts of the loop.

The replies were written by the author of the questions, so they show that the loop works, not how often it is right.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from benchmarks.question_sets import unpacked
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.lms import LMConfig
from experiments.saved import SavedProgram
from experiments.tasks import ThoughtsQuestions, ThoughtsSetup, read_tasks
from programs.thoughts import ThoughtsConfig
from tests.replay import replay_settings

ROOT = Path(__file__).resolve().parents[3]
TASKS = unpacked("tasks") / "thoughts" / "tasks.jsonl"
RECORDED = ROOT / "tests" / "data" / "transcripts" / "thoughts.jsonl"
ASKED = ("museum-5", "bridge-2", "choir-1", "storm-1")


def test_the_tasks_of_the_benchmark_have_their_files() -> None:
    tasks = read_tasks(TASKS)
    assert len({task.id for task in tasks}) == len(tasks) == 23
    assert sum(not task.answers for task in tasks) == 2


def test_recorded_replies_answer_questions_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))
    lines = [json.loads(line) for line in TASKS.read_text(encoding="utf-8").splitlines()]
    chosen = [line for line in lines if line["id"] in ASKED]
    for line in chosen:
        line["files"] = [str(TASKS.parent / name) for name in line["files"]]
    file = tmp_path / "tasks.jsonl"
    file.write_text("\n".join(map(json.dumps, chosen)))
    loop = ThoughtsConfig(max_iterations=2, votes=1, retrieve="query", types="auto", explain=True)
    task = ThoughtsQuestions(read_tasks(file), ThoughtsSetup(config=loop), "tasks", date(2026, 11, 22))
    config = EvaluationConfig(lm=LMConfig("openai/recorded"), threads=1)
    evaluation = evaluate(SavedProgram(None, "thoughts", Path()), task, config, lm=replay_settings(RECORDED))
    assert (evaluation.figures["questions"], evaluation.figures["right"]) == (4, 4)
    answers: dict[str, dict[str, Any]] = {one["question"]: one for one in evaluation.turns.values()}
    [oldest] = [one for question, one in answers.items() if "oldest bridge" in question]
    assert {fact["statement"] for fact in oldest["facts"]} == {
        "Old Bridge -> stands_in -> Arvika Ford",
        "Old Bridge: opened 1688",
        "Arvika Ford: inhabitants 3150",
    }
    assert oldest["explanation"].startswith("Old Bridge, opened in 1688, is the oldest.")
    [left] = [one for question, one in answers.items() if "crowns are left" in question]
    assert (left["answer"], left["calculation"]) == ("980", "multiply(16, 85), subtract(2340, #0)")
    [nobody] = [one for question, one in answers.items() if "botany" in question]
    assert nobody["abstained"]
