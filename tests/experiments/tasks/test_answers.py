"""Evaluation of conversations with gold answers in place of programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from experiments.compare import read_turns
from experiments.data import LoadedData
from experiments.evaluation import ReportQuestions, evaluate
from experiments.saved import SavedProgram
from experiments.tracking import Tracker


def open_data(data: LoadedData) -> LoadedData:
    """Two conversations: a right figure, a wrong year, an abstention, an answer without gold."""
    first, second, _ = data.conversations
    gold = [(first.answers[0], ("2020",)), (None, None)]  # type: ignore[index]
    kept = [
        replace(one, programs=None, answers=None, gold=answers)
        for one, answers in zip((first, second), gold, strict=True)
    ]
    return replace(data, conversations=tuple(kept))


def test_a_file_with_answers_reports_abstention(
    make_saved: Callable[..., SavedProgram], data: LoadedData, tracker: Tracker
) -> None:
    task = ReportQuestions(open_data(data))
    done = evaluate(make_saved(costs=None), task, tracker=tracker)  # type: ignore[misc]
    figures = done.figures
    assert (figures["turns"], figures["failed_turns"], figures["answered_share"]) == (4, 1, 0.75)
    assert figures["accuracy_when_answered"] == 1 / 3
    assert (figures["abstained_right"], figures["abstained_wrong"], figures["name_accuracy"]) == (0.5, 0.0, 0.0)
    assert (figures["exe_accuracy"], figures["conversation_accuracy"]) == (0.5, 0.0)
    assert "program_accuracy" not in figures
    assert [point["coverage"] for point in figures["risk_coverage"]] == [0.75]
    assert 0 <= figures["expected_calibration_error"] <= 1
    record = tracker.find("latest")
    assert record.metrics["abstained_right"] == 0.5
    assert [turn.score.exact for turn in read_turns(record, tracker)] == [True, False, True, False]


def test_a_stopped_evaluation_of_answers_is_resumed(
    make_saved: Callable[..., SavedProgram], data: LoadedData, tracker: Tracker
) -> None:
    task = ReportQuestions(open_data(data))
    whole = evaluate(make_saved(), task)
    with pytest.raises(KeyboardInterrupt):
        evaluate(make_saved(costs="^C"), task, tracker=tracker)
    again = evaluate(make_saved(), task, tracker=tracker, resume=True)
    assert (again.figures["resumed_turns"], again.scores) == (2, whole.scores)
