from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from experiments.compare import compare
from experiments.data import LoadedData
from experiments.evaluation import EvaluationConfig, ReportQuestions, evaluate
from experiments.pages import describe_comparison
from experiments.runs import RunRecord
from experiments.saved import SavedProgram
from experiments.tracking import Tracker
from kg.errors import TrackingError

Make = Callable[..., SavedProgram]


@pytest.fixture
def run(make_saved: Make, data: LoadedData, tracker: Tracker) -> Callable[..., RunRecord]:
    def evaluate_scripted(
        name: str, over: LoadedData | None = None, limit: int | None = None, **changed: str | None
    ) -> RunRecord:
        config = EvaluationConfig(limit=limit)
        evaluate(make_saved(name, **changed), ReportQuestions(over or data), config, tracker=tracker, run_name=name)
        return tracker.find(name)

    return evaluate_scripted


def test_differences_are_paired_and_changed_turns_named(run: Callable[..., RunRecord], tracker: Tracker) -> None:
    comparison = compare([run("before", costs="4", the_share="4"), run("after", revenue="6")], tracker)
    figures = comparison.figures()
    assert figures["difference"] == pytest.approx(1 / 5)
    assert figures["difference_low"] <= figures["difference"] <= figures["difference_high"]
    assert figures["mcnemar_p"] == 1.0
    assert (figures["better"], figures["worse"], figures["turns"]) == (2, 1, 5)
    assert [side["exe_accuracy"] for side in figures["runs"]] == pytest.approx([0.6, 0.8])
    assert [change["better"] for change in figures["differences"][0]["changed"]] == [False, True, True]


def test_the_comparison_is_a_run_of_its_own(run: Callable[..., RunRecord], tracker: Tracker) -> None:
    first, second = run("a", costs="4"), run("b")
    comparison = compare([first, second], tracker)
    record = tracker.find("latest", kinds=("compare",))
    assert record.id == comparison.run_id
    assert record.metrics["difference"] == pytest.approx(0.2)
    assert record.tags["finpath.compared.1"] == second.id
    assert record.name == "compare a vs b"
    assert "McNemar" in record.tags["mlflow.note.content"]


def test_runs_over_different_turns_are_compared_on_the_shared_ones(
    run: Callable[..., RunRecord], tracker: Tracker
) -> None:
    comparison = compare([run("all"), run("some", limit=1)], tracker, tracked=False)
    assert (comparison.turns, comparison.left_out) == (2, 3)
    assert "compared on the 2 turns that all runs share; 3 were left out" in describe_comparison(comparison)


def test_runs_that_share_no_turn_are_refused(run: Callable[..., RunRecord], data: LoadedData, tracker: Tracker) -> None:
    other = tuple(dataclasses.replace(one, id=f"other-{one.id}") for one in data.conversations)
    records = [run("a"), run("b", over=dataclasses.replace(data, conversations=other))]
    with pytest.raises(TrackingError, match="share no turn"):
        compare(records, tracker)
    with pytest.raises(TrackingError, match="at least two runs, got 1"):
        compare(records[:1], tracker)


def test_description_shows_the_verdict(run: Callable[..., RunRecord], tracker: Tracker) -> None:
    records = [run("before", costs="4"), run("after"), run("third", costs="4")]
    text = describe_comparison(compare(records, tracker, tracked=False))
    assert "after against before, 5 turns: +20.0 points" in text
    assert "third against before, 5 turns: +0.0 points" in text
    assert "better  Single_ACME/2020/page_1.pdf-1:1" in text
    assert max(map(len, text.split("\n\n", 2)[2].splitlines())) <= 100
    assert "each is compared with before; p is also given corrected by Holm for 2 comparisons" in text
    assert "was: right answer not found" in text
