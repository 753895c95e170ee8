"""Recorded replies in place of a language model, and the words in which a changed prompt is named."""

from __future__ import annotations

import json
from pathlib import Path

import dspy
import pytest

from kg.calculations import DerivationScorer
from kg.reports import Report, build_ontology
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.lm import GuardedLM
from programs.worlds.report import ReportReader
from tests.replay import Exchange, ReplayEngine, Transcript, replay_settings
from tools.record_transcript import answer

REPORT = Report(
    "r",
    ("the company sold 105 stores in 2009 .",),
    (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4", "5")),
    (),
)
QUESTIONS = ("how many stores did it sell?", "and twice that number?")


def _reply(request: dict[str, object]) -> str:
    """The reply of a reader who reads the last question."""
    prompt = str(request["messages"][-1]["content"])  # type: ignore[index]
    if "## candidates ## ]]" in prompt:
        lines = prompt.partition("## candidates ## ]]")[2].splitlines()
        wanted = "multiply([" if "twice" in prompt else "[s0n0] = "
        number = next(line.partition(".")[0] for line in lines if wanted in line and line[:1].isdigit())
        return json.dumps({"choice": int(number), "confidence": 90})
    calculation = "multiply([a1], 2)" if "twice" in prompt else "[s0n0]"
    return json.dumps({"meaning": "the stores", "calculation": calculation, "confidence": 90})


@pytest.fixture
def program() -> ConversationQA:
    return ConversationQA(BeamQA(ReportReader(build_ontology([REPORT]), DerivationScorer.untrained())))


@pytest.fixture
def folder(tmp_path: Path, program: ConversationQA) -> Path:
    """Requests and replies of a whole conversation, a file each."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()

    class Spool(ReplayEngine):
        def complete(self, request: object) -> object:
            messages = [{"role": "system", "content": request.system}]  # type: ignore[attr-defined]
            messages += [{"role": m.role, "content": m.parts[0].text} for m in request.messages]  # type: ignore[attr-defined]
            number = f"{len(list((tmp_path / 'in').glob('*'))) + 1:05d}"
            body = {"messages": messages}
            (tmp_path / "in" / f"{number}.json").write_text(json.dumps(body))
            (tmp_path / "out" / f"{number}.txt").write_text(_reply(body))
            exchange = Exchange(tuple((str(m["role"]), str(m["content"])) for m in messages), _reply(body))
            return ReplayEngine(Transcript((exchange,))).complete(request)

    lm = GuardedLM("openai/reader", engine=Spool(Transcript(())), own_server=True, cache=False)
    with dspy.context(lm=lm):
        turns = program(report=REPORT, questions=QUESTIONS).turns
    assert [turn.answer for turn in turns] == [105, 210], [turn.message for turn in turns]
    (tmp_path / "in" / "00009.json").write_text(json.dumps({"messages": [{"role": "user", "content": "ok?"}]}))
    (tmp_path / "out" / "00009.txt").write_text("ok")
    (tmp_path / "in" / "00010.json").write_text(json.dumps({"messages": []}))
    return tmp_path


def test_a_recorded_conversation_is_repeated_without_a_model(folder: Path, program: ConversationQA) -> None:
    path = folder / "transcript.jsonl"
    Transcript.of_folder(folder).write(path)
    settings = replay_settings(path)
    with dspy.context(**settings):
        turns = program(report=REPORT, questions=QUESTIONS).turns
    assert [turn.answer for turn in turns] == [105, 210]
    engine = settings["lm"].engine
    assert engine.changed == []
    assert len(engine.used) == len(Transcript.read(path).exchanges)
    assert settings["lm"].spent.usd == 0


def test_requests_that_did_not_change_are_answered_from_the_transcript(folder: Path) -> None:
    transcript = Transcript.of_folder(folder)
    replies = {one: one.read_text() for one in (folder / "out").glob("*.txt") if one.stem < "00009"}
    for one in replies:
        one.unlink()
    changed = folder / "in" / "00001.json"
    changed.write_text(changed.read_text().replace("margin", "gap"))
    assert answer(folder, transcript) == len(replies) - 1
    found = {one: one.read_text() for one in (folder / "out").glob("*.txt") if one.stem < "00009"}
    assert found == {one: text for one, text in replies.items() if one.stem != "00001"}


def test_a_changed_prompt_is_named(folder: Path, program: ConversationQA) -> None:
    engine = ReplayEngine(Transcript.of_folder(folder))
    other = Report("r", REPORT.pre_text, (*REPORT.table[:2], ("margin", "4", "6")), ())
    with dspy.context(lm=GuardedLM("openai/reader", engine=engine, own_server=True, cache=False, num_retries=0)):
        [turn] = program(report=other, questions=QUESTIONS[:1]).turns
    assert turn.failure == "lm_error"
    wanted = "was recorded as 'r2: margin | [r2c1] 4 | [r2c2] 5', and is now 'r2: margin | [r2c1] 4 | [r2c2] 6'"
    assert any(wanted in one for one in engine.changed), engine.changed
    assert wanted in turn.message
