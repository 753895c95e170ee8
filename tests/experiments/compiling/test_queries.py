"""``finpath compile queries``: demonstrations of right parses, scored by recorded replies, logged, loaded, used."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import dspy
import pytest

from experiments.commands import main as cli
from experiments.compiling import compile_program, queries, query_job
from experiments.data import read_talks
from experiments.lms import LMConfig
from experiments.saved import find_program, shipped_encoder, shipped_thesaurus
from experiments.tracking import Tracker
from kg.errors import DataError
from kg.facts import FactGraph, read_file
from kg.parsing import QuestionReader
from optimize.queries import AskedTurn, Talk, asked_turns, demonstrations, fit_queries, kinds_of, score_queries
from programs.conversation import ConversationQA
from programs.graphs import ReplyConfidence
from programs.worlds.graph import GraphConfig
from tests.replay import replay_settings

DATA = Path(__file__).parents[2] / "data"
TALKS, RECORDED = DATA / "talks", DATA / "transcripts" / "queries.jsonl"
TODAY = date(2026, 11, 22)


def turns_of(part: str) -> list[AskedTurn]:
    [(file, rows)] = read_talks([str(TALKS / part)])[0].items()
    graph = FactGraph.build(read_file(file, file.read_text(encoding="utf-8")))
    reader = QuestionReader(graph, shipped_encoder().vectors, shipped_thesaurus())
    talks = [Talk(tuple(row["questions"]), tuple(row["answers"])) for row in rows]
    return [turn for talk in talks for turn in asked_turns(reader, talk, today=TODAY)]


@pytest.mark.usefixtures("recorded_arithmetic")
def test_recorded_replies_of_a_capable_reader_answer_what_the_beam_does_not() -> None:
    """The reader saw the prompts alone; a prompt that changed is named with its first line that differs."""
    student = ConversationQA.for_graphs(GraphConfig(today=TODAY))
    program = fit_queries(student, "labeled-few-shot", demonstrations(turns_of("train")))
    shown = {kind for one in program.beam.understand.predict.demos for kind in kinds_of(one)}
    assert {"follow", "only", "largest", "answer: count", "answer: yes or no"} <= shown
    turns = turns_of("dev")
    settings = replay_settings(RECORDED)
    with dspy.context(**settings):
        score = score_queries(program, turns)
    engine = settings["lm"].engine
    assert engine.changed == [], "prompts changed: record their replies again"
    assert engine.used == set(engine.replies), "no recorded prompt is left"
    assert (len(turns), score["right"], score["wrong"], score["refused"]) == (8, 1, 0, 0)
    assert score["answered_right"] >= 6 / 8


def test_the_compiled_program_is_logged_loaded_and_asked(
    tmp_path: Path, tracker: Tracker, scripted_lm: Callable[..., dspy.LM], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {"query": json.dumps({"start": "telescope", "answer": "count"})}
    right = {"query": json.dumps({"start": "telescope", "steps": [{"operation": "lacking", "relation": "keeper"}]})}
    unsure = {"query": json.dumps({"answer": "not in the graph"})}
    lm = scripted_lm([unsure, wrong, right])
    monkeypatch.setattr(queries, "lm_settings", lambda _: {"lm": lm, "adapter": dspy.ChatAdapter()})
    dev = tmp_path / "dev"
    dev.mkdir()
    (dev / "observatory.ttl").write_text((TALKS / "dev" / "observatory.ttl").read_text(encoding="utf-8"))
    row = {"file": "observatory.ttl", "questions": ["Which scope has nobody in charge?"], "answers": [["Lantern"]]}
    (dev / "questions.jsonl").write_text(json.dumps(row), encoding="utf-8")
    folders = [str(TALKS / "train")], [str(dev)]
    job = query_job("labeled-few-shot", *folders, lm=LMConfig("openai/scripted"), scored=1, today=TODAY)
    compiled = compile_program(job, out=tmp_path / "mine", tracker=tracker, run_name="parsed")
    assert (compiled.figures["dev/right_before"], compiled.figures["dev/right"]) == (0.0, 1.0)
    record = tracker.find("parsed", kinds=("compile",))
    assert (record.metrics["dev/right"], record.params["optimizer"]) == (1.0, "labeled-few-shot")
    loaded = find_program("parsed", tracker).program
    assert isinstance(loaded, ConversationQA)
    assert len(loaded.beam.understand.predict.demos) == 4
    assert loaded.beam.understand.predict.demos == compiled.saved.program.beam.understand.predict.demos
    assert compiled.figures["confidence_turns"] == 1
    assert loaded.config.reply_confidence == compiled.saved.program.config.reply_confidence
    assert loaded.config.reply_confidence not in (None, ReplyConfidence())


def test_the_command_compiles_and_asks_with_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine, graph = str(tmp_path / "mine"), str(TALKS / "train" / "mill.csv")
    words = ["compile", "queries", "--train", str(TALKS / "train"), "--no-track", "--out", mine]
    assert cli.main([*words, "--optimizer", "gepa"]) == 1
    assert "must be one of none, labeled-few-shot" in capsys.readouterr().err
    assert cli.main([*words, "--optimizer", "labeled-few-shot"]) == 0
    assert "demonstrations: 4" in capsys.readouterr().out
    assert cli.main(["ask", graph, "Who is the owner of Low Mill?", "--program", mine, "--no-track"]) == 0
    assert "Hester Quill" in capsys.readouterr().out


def test_talks_are_checked_and_held_out_ones_are_left_out(tmp_path: Path) -> None:
    found, _ = read_talks([str(TALKS / "dev")])
    assert "Who keeps the Owl?" not in [
        question for rows in found.values() for row in rows for question in row["questions"]
    ]
    (tmp_path / "questions.jsonl").write_text('{"file": "x.ttl", "questions": ["?"], "answers": []}')
    with pytest.raises(DataError, match="must hold file, questions and answers"):
        read_talks([str(tmp_path)])
