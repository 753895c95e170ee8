"""Names of runs, and what a comparison says of the runs that it took."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from experiments.commands import main as cli
from experiments.compare import compare
from experiments.data import LoadedData
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.pages import describe_comparison
from experiments.saved import SavedProgram
from experiments.tasks import ConvFinQA
from experiments.tracking import Tracker

Make = Callable[..., SavedProgram]


def test_a_comparison_names_the_runs_that_it_took(make_saved: Make, data: LoadedData, tracker: Tracker) -> None:
    one = evaluate(make_saved("beam"), ConvFinQA(data), tracker=tracker)
    two = evaluate(make_saved("beam", costs="4"), ConvFinQA(data), EvaluationConfig(limit=2), tracker=tracker)
    assert (one.name, two.name) == ("beam on dev.json", "beam (first 2) on dev.json")
    comparison = compare([tracker.find(str(one.run_id)), tracker.find(str(two.run_id))], tracker)
    text = describe_comparison(comparison)
    assert f"beam            {one.run_id}  none   all" in text
    assert f"beam (first 2)  {two.run_id}  none   2" in text
    assert comparison.figures()["runs"][1]["limit"] == "2"


def test_several_runs_of_a_name_are_reported(
    make_saved: Make, data: LoadedData, tracker: Tracker, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [evaluate(make_saved("beam"), ConvFinQA(data), tracker=tracker, run_name="same").run_id for _ in range(2)]
    evaluate(make_saved("beam"), ConvFinQA(data), tracker=tracker, run_name="other")
    capsys.readouterr()
    assert cli.main(["compare", "same", "other", "--no-track"]) == 0
    told = capsys.readouterr().err
    assert told.splitlines() == [f"note: 2 runs are named 'same'; the newest is taken: {runs[1]}"]
    assert cli.main(["compare", str(runs[0]), "latest", "--no-track"]) == 0
    assert capsys.readouterr().err == ""
