from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.data import LoadedData
from experiments.evaluate import EvaluationConfig, evaluate
from experiments.inspect_command import run_command
from experiments.inspect_runs import choose_turn, examples, read_turns, tool_use
from experiments.inspect_text import describe_turn
from experiments.saved import SavedProgram
from experiments.tracking import Tracker
from kg.errors import TrackingError

Make = Callable[..., SavedProgram]


@pytest.fixture(autouse=True)
def evaluated(make_saved: Make, data: LoadedData, tracker: Tracker) -> None:
    evaluate(make_saved(costs="4", revenue=None), data, EvaluationConfig(), tracker=tracker)


def options(**changed: object) -> argparse.Namespace:
    return argparse.Namespace(
        **{
            "run_reference": "latest",
            "failed": False,
            "examples": False,
            "tools": False,
            "graph": None,
            "turn": None,
            "prompts": False,
            "limit": 20,
            "json": None,
        }
        | changed
    )


def test_turns_are_read_as_they_were(tracker: Tracker) -> None:
    turns = read_turns(tracker.find("latest"), tracker)
    assert [turn.score.exact for turn in turns] == [False, True, False, True, True]
    assert turns[1].turn.candidates[1].answer == 42
    assert turns[1].turn.pick == 0


def test_failed_turns_only(tracker: Tracker, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run_command(options(failed=True, json=str(tmp_path / "out.json")))
    shown = capsys.readouterr().out
    assert "failure    empty_beam: nothing found" in shown
    assert "the gold answer is not among the candidates" in shown
    assert "2 of 2 turns that are wrong or have no answer" in shown
    turns = json.loads((tmp_path / "out.json").read_text())["turns"]
    assert [turn["question"] for turn in turns] == ["revenue?", "costs?"]


def test_one_turn_shows_its_paths(tracker: Tracker, capsys: pytest.CaptureFixture[str]) -> None:
    run_command(options(turn="page_0.pdf-1:1"))
    shown = capsys.readouterr().out
    assert "gold       2  =  subtract(5, 3)" in shown
    assert "path 1: A -> b -> subtract(5, 3)" in shown


@pytest.mark.parametrize(
    ("reference", "message"),
    [("page:0", "names 3 turns"), ("nowhere:0", "names 0 turns"), ("page_0", "CONVERSATION:INDEX")],
)
def test_a_turn_must_be_named_exactly(tracker: Tracker, reference: str, message: str) -> None:
    with pytest.raises(TrackingError, match=message):
        choose_turn(read_turns(tracker.find("latest"), tracker), reference)


def test_the_pick_is_marked(tracker: Tracker) -> None:
    turn = read_turns(tracker.find("latest"), tracker)[1]
    assert "> " in describe_turn(turn)
    assert "42" not in describe_turn(turn, candidates=1)
