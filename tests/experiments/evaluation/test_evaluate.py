from __future__ import annotations

from collections.abc import Callable

import pytest

from experiments.data import LoadedData
from experiments.evaluation import DETAILS, TURNS, EvaluationConfig, ReportQuestions, evaluate
from experiments.saved import SavedProgram
from experiments.tracking import Tracker
from kg.errors import DataError

Make = Callable[..., SavedProgram]

STABLE = {
    "exe_accuracy",
    "program_accuracy",
    "conversation_accuracy",
    *(f"recall_at_{depth}" for depth in (1, 3, 5, 10, 20)),
}


def test_figures_carry_the_stable_names(make_saved: Make, data: LoadedData) -> None:
    figures = evaluate(make_saved(), ReportQuestions(data), EvaluationConfig()).figures
    for name in STABLE:
        assert 0 <= figures[f"{name}_low"] <= figures[name] <= figures[f"{name}_high"] <= 1
    for name in ("turns", "conversations", "failed_turns", "lm_calls_per_turn", "prompt_tokens_per_turn", "run_id"):
        assert name in figures
    assert figures["seconds_per_turn_p50"] == figures["seconds_per_turn_p95"] == 0.25
    assert figures["exe_accuracy"] == 1
    assert figures["run_id"] is None
    assert all(figures[name] == 0 for name in ("lm_calls", "lm_cache_hits", "lm_prompt_tokens", "lm_usd"))


def test_wrong_and_failed_turns_are_counted_apart(make_saved: Make, data: LoadedData) -> None:
    evaluation = evaluate(make_saved(costs="4", revenue=None), ReportQuestions(data), EvaluationConfig())
    assert evaluation.figures["exe_accuracy"] == pytest.approx(3 / 5)
    assert evaluation.figures["conversation_accuracy"] == pytest.approx(1 / 3)
    assert evaluation.figures["failed_turns"] == 1
    assert evaluation.figures["failures_empty_beam"] == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_a_turn_that_raises_costs_itself_only(make_saved: Make, data: LoadedData, threads: int) -> None:
    evaluation = evaluate(make_saved(costs="!"), ReportQuestions(data), EvaluationConfig(threads=threads))
    assert evaluation.figures["turns"] == 5
    assert evaluation.figures["failed_turns"] == evaluation.figures["failures_error"] == 1
    assert [score.exact for score in evaluation.scores] == [True, True, False, True, True]
    assert evaluation.scores[2].message == "RuntimeError: the program broke"


def test_a_report_that_cannot_be_read_costs_its_own_turns_only(make_saved: Make, data: LoadedData) -> None:
    saved = make_saved()
    saved.program.programs[data.conversations[1].report.id] = "!"  # type: ignore[attr-defined]
    evaluation = evaluate(saved, ReportQuestions(data), EvaluationConfig())
    assert [score.failure for score in evaluation.scores] == [None, None, "error", "error", None]
    assert evaluation.figures["failures_error"] == 2
    assert evaluation.scores[3].message == "RuntimeError: no graph"


def test_the_run_keeps_figures_settings_and_every_turn(make_saved: Make, data: LoadedData, tracker: Tracker) -> None:
    evaluation = evaluate(
        make_saved(costs="4", revenue=None), ReportQuestions(data), EvaluationConfig(seed=7), tracker=tracker
    )
    record = tracker.find("latest")
    assert record.id == evaluation.figures["run_id"]
    assert (record.kind, record.status, record.name) == ("evaluate", "FINISHED", "scripted on dev.json")
    assert set(record.metrics) >= {"exe_accuracy"}
    assert len(record.metrics) <= 30
    [row] = [row for row in tracker.table(record, "figures") if row["figure"] == "exe_accuracy"]
    figures = evaluation.figures
    assert list(row.values())[1:] == [figures[f"exe_accuracy{end}"] for end in ("", "_low", "_high")]
    assert record.params["seed"] == "7"
    assert record.params["settings.beam_width"] == "3"
    assert record.tags["finpath.data_sha256"] == data.sha256
    assert record.tags["finpath.ontology_sha256"] == "0" * 64
    turns = tracker.table(record, TURNS)
    assert [turn["rank"] for turn in turns] == [None, 1, None, 1, 1]
    assert turns[2]["stage"] == "not_in_beam"
    assert turns[0]["failure"] == "empty_beam"
    assert tracker.table(record, DETAILS)[1]["candidates"][0]["program"] == "subtract(5, 3)"


def test_a_run_that_is_stopped_is_killed_and_keeps_what_was_done(
    make_saved: Make, data: LoadedData, tracker: Tracker
) -> None:
    with pytest.raises(KeyboardInterrupt):
        evaluate(make_saved(costs="^C"), ReportQuestions(data), EvaluationConfig(), tracker=tracker)
    record = tracker.find("latest")
    assert record.status == "KILLED"
    assert record.metrics["turns"] == 2
    assert len(tracker.table(record, TURNS)) == 2


def test_data_without_gold_is_refused(make_saved: Make, data: LoadedData) -> None:
    import dataclasses

    blind = tuple(dataclasses.replace(one, programs=None, answers=None) for one in data.conversations)
    with pytest.raises(DataError, match=r"dev\.json: has no gold answers"):
        evaluate(make_saved(), ReportQuestions(dataclasses.replace(data, conversations=blind)), EvaluationConfig())
    with pytest.raises(DataError, match="no conversation"):
        evaluate(make_saved(), ReportQuestions(dataclasses.replace(data, conversations=())), EvaluationConfig())
