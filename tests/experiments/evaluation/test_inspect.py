from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.commands.main import finpath
from experiments.compare import choose_turn, read_turns
from experiments.data import LoadedData
from experiments.evaluation import EvaluationConfig, ReportQuestions, evaluate
from experiments.saved import SavedProgram
from experiments.tracking import Tracker
from kg.errors import TrackingError

Make = Callable[..., SavedProgram]


@pytest.fixture(autouse=True)
def evaluated(make_saved: Make, data: LoadedData, tracker: Tracker) -> None:
    evaluate(make_saved(costs="4", revenue=None), ReportQuestions(data), EvaluationConfig(), tracker=tracker)


def inspect(*arguments: str, run: str = "latest") -> None:
    with finpath.make_context("finpath", ["inspect", run, *arguments]) as context:
        finpath.invoke(context)


def test_turns_are_read_as_they_were(tracker: Tracker) -> None:
    turns = read_turns(tracker.find("latest"), tracker)
    assert [turn.score.exact for turn in turns] == [False, True, False, True, True]
    assert turns[1].turn.candidates[1].answer == 42
    assert turns[1].turn.pick == 0


def test_failed_turns_only(tracker: Tracker, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    inspect("--failed", "--json", str(tmp_path / "out.json"))
    shown = capsys.readouterr().out
    assert "failure    empty_beam: nothing found" in shown
    assert "the gold answer is not among the candidates" in shown
    assert "2 of 2 turns that are wrong or have no answer" in shown
    turns = json.loads((tmp_path / "out.json").read_text())["turns"]
    assert [turn["question"] for turn in turns] == ["revenue?", "costs?"]


def test_one_turn_shows_its_paths(tracker: Tracker, capsys: pytest.CaptureFixture[str]) -> None:
    inspect("--turn", "page_0.pdf-1:2")
    shown = capsys.readouterr().out
    assert "gold       2  =  subtract(5, 3)" in shown
    assert "path 1: A -> b -> subtract(5, 3)" in shown


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (":1", "names 3 turns"),
        ("nowhere:1", "names 0 turns"),
        ("page_0", "CONVERSATION:NUMBER"),
    ],
)
def test_a_turn_must_be_named_exactly(tracker: Tracker, reference: str, message: str) -> None:
    with pytest.raises(TrackingError, match=message):
        choose_turn(read_turns(tracker.find("latest"), tracker), reference)
