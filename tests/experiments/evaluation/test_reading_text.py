"""Reading figures from the text, from the command line down to a run that is gone on with; rules read, no model."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from experiments.commands.chat import ChatSession
from experiments.commands.main import main
from experiments.data import load_conversations
from experiments.evaluation import EvaluationConfig
from experiments.facade.subjects import find_subject
from experiments.saved import Origin, find_program, load_program, save_program, with_program_settings
from experiments.tasks import ConvFinQA
from kg.errors import ConfigError
from programs.turns.records import read_turn, turn_record

ALWAYS = ("escalate=thoughts", "none_above=0.000001", "max_iterations=1")
REPORT = "MRLW/2020/page_49.pdf"


def test_evaluate_counts_what_was_read(tmp_path: Path, tracking_uri: str) -> None:
    out = tmp_path / "out.json"
    arguments = ["evaluate", "beam", "--data", "sample:dev", "--limit", "2", "--json", str(out)]
    assert main([*arguments, *(word for setting in ALWAYS for word in ("--set", setting))]) == 0
    figures = json.loads(out.read_text())
    assert figures["escalated_thoughts"] == figures["turns"]
    assert figures["inserted_figures"] > 0
    assert (figures["reading_calls"], figures["reading_tokens"]) == (0, 0)


def test_ask_and_chat_say_what_was_read(tmp_path: Path, tracking_uri: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    question = "what was the net income in 2020?"
    assert (
        main(["ask", REPORT, question, *(word for one in ALWAYS for word in ("--set", one)), "--json", str(out)]) == 0
    )
    [turn] = json.loads(out.read_text())["turns"]
    assert turn["escalated"] == "thoughts"
    assert all(place.startswith("sentence ") for place in turn["inserted"])
    chat = ChatSession(find_subject([REPORT], "sample:dev", "beam", ALWAYS), StringIO(), colour=False)
    chat.take(question)
    chat.take("/why")
    assert chat.conversation.turns[-1].escalated == "thoughts"
    assert ("   read " in capsys.readouterr().out) == bool(turn["inserted"])


def test_settings_are_checked(tracking_uri: str) -> None:
    with pytest.raises(ConfigError, match="set is for programs about reports"):
        find_subject(["geography"], "sample:dev", "beam", ["escalate=thoughts"])
    with pytest.raises(ConfigError, match="votes must be 0 or odd"):
        find_subject([REPORT], "sample:dev", "beam", ["votes=2"])
    with pytest.raises(ConfigError, match="escalate must be"):
        find_subject([REPORT], "sample:dev", "beam", ["escalate=always"])


def test_a_saved_program_remembers_it(tmp_path: Path) -> None:
    program = with_program_settings(find_program("beam").program, [*ALWAYS, "votes=5"])
    saved = load_program(save_program(program, tmp_path / "mine", Origin())).program
    assert saved.evidence is not None
    assert saved.evidence == program.evidence
    assert (saved.evidence.escalate, saved.evidence.votes) == ("thoughts", 5)
    assert "turn.thoughts.read_figures" in {name for name, _ in saved.named_predictors()}


def test_an_evaluation_that_was_stopped_goes_on_with_what_was_read() -> None:
    program = with_program_settings(find_program("beam").program, ALWAYS)
    [one] = load_conversations("sample:dev").conversations[:1]
    task, config = ConvFinQA(load_conversations("sample:dev")), EvaluationConfig()
    whole = list(task.answer(program, one, [], config))
    assert whole[0].turn.reading is not None
    assert whole[0].turn.reading.inserted
    kept = replace(whole[0], turn=read_turn(json.loads(json.dumps(turn_record(whole[0].turn)))))
    rest = list(task.answer(program, one, [kept], config))
    for before, after in zip(whole[1:], rest, strict=True):
        assert after.turn.derivation == before.turn.derivation
        assert after.turn.reading is not None
        assert before.turn.reading is not None
        assert after.turn.reading.inserted == before.turn.reading.inserted
