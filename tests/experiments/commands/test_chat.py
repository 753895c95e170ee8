"""``finpath chat``: through a pipe, on a terminal, and by its commands."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.asking import QuestionLog
from experiments.commands.ask import Chat, talk, talk_at_terminal
from experiments.facade import Subject, find_subject
from kg.errors import ConfigError, DataError

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, str(ROOT / "finpath.py"), "chat"]


@pytest.fixture(scope="module")
def subject() -> Subject:
    return find_subject(["geography"], "sample:dev", "beam")


def _chat(subject: Subject) -> Chat:
    return Chat(subject, QuestionLog())


def _said(subject: Subject, *lines: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        talk(_chat(subject), lines)
    return out.getvalue()


def test_questions_follow_ups_and_their_basis(subject: Subject) -> None:
    lines = _said(subject, "What is the capital of Norway?", "", "And of Sweden?", "/why").splitlines()
    assert lines[0] == "Q  What is the capital of Norway?"
    assert [line.partition("   (")[0] for line in lines if line.startswith("A")] == ["A  Oslo", "A  Stockholm"]
    assert "   path        Sweden -> capital -> Stockholm" in lines
    assert "no answer: the graph does not say" in _said(subject, "What is the capital of Peru?", "/why")


def test_a_new_conversation(subject: Subject) -> None:
    told = _said(subject, "Which countries border Portugal?", "/reset", "/why")
    assert "a new conversation" in told
    assert "there are /why, after a question" in told


def test_mistakes_are_said_in_one_line_and_the_conversation_goes_on(subject: Subject) -> None:
    told = _said(
        subject,
        "/nope",
        "/why",
        "What is the capital of Norway?",
    ).splitlines()
    assert told[0].startswith("   there are /why, after a question, and /reset, got /nope")
    assert told[1].startswith("   there are /why, after a question")
    assert told[-1].startswith("A  Oslo")


def test_a_question_that_is_stopped_is_forgotten(
    subject: Subject, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = _chat(subject)
    lines = iter(["What is the capital of Norway?", "stop", KeyboardInterrupt(), "And of Sweden?"])

    def typed(prompt: str) -> str:
        line = next(lines, None)
        if line is None:
            raise EOFError
        if isinstance(line, KeyboardInterrupt):
            raise line
        return str(line)

    ask = chat.conversation.ask

    def stopped(question: str) -> Any:
        if question == "stop":
            raise KeyboardInterrupt
        return ask(question)

    monkeypatch.setattr("builtins.input", typed)
    monkeypatch.setattr(chat.conversation, "ask", stopped)
    talk_at_terminal(chat)
    assert "stopped; the question is forgotten" in capsys.readouterr().out
    assert [one.words for one in chat.conversation.turns] == ["Oslo", "Stockholm"]


def test_through_a_pipe(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "geography"],
        input="What is the capital of Norway?\nAnd of Sweden?\n",
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "A  Stockholm" in done.stdout.splitlines()[-1]
    assert "\x1b" not in done.stdout
    assert "> " not in done.stdout


GRAPH = """
@prefix x: <https://example.org/thing/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:Ada a x:Painter ; rdfs:label "Ada Falk" ; x:birthplace x:Nuuk .
x:Nuuk a x:City ; rdfs:label "Nuuk\\u001B[2J" ; x:population 20000 .
x:Painter rdfs:label "painter" . x:City rdfs:label "city" .
x:birthplace rdfs:label "birthplace" . x:population rdfs:label "population" .
"""


def test_a_conversation_about_a_graph_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "my-graph.ttl"
    path.write_text(GRAPH)
    subject = find_subject([str(path)], "sample:dev", "beam")
    assert subject.title.endswith("my-graph.ttl: 2 entities: city, painter")
    told = _said(subject, "What is the birthplace of Ada Falk?", "/why")
    assert "A  Nuuk\\x1b[2J   (confidence " in told
    assert "\x1b" not in told
    plain = tmp_path / "plain.nt"
    plain.write_text("<http://e.org/Ada_Falk> <http://e.org/birthplace> <http://e.org/Nuuk> .\n")
    subject = find_subject([str(plain)], "sample:dev", "beam")
    assert "A  Nuuk   (confidence " in _said(subject, "What is the birthplace of Ada Falk?")
    with pytest.raises(ConfigError, match="a graph must be the only subject"):
        find_subject([str(path), "notes.md"], "sample:dev", "beam")
    with pytest.raises(DataError, match="cannot be read"):
        find_subject([str(tmp_path / "none.nt")], "sample:dev", "beam")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="empty holds neither"):
        find_subject([str(tmp_path / "empty")], "sample:dev", "beam")


def test_a_graph_in_a_folder_and_in_several_files(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    folder.mkdir()
    (folder / "a.ttl").write_text(GRAPH)
    (folder / "b.csv").write_text("subject,predicate,object\nAda Falk,teacher,Ivo Marsh\n")
    assert "2 entities" in find_subject([str(folder / "a.ttl")], "sample:dev", "beam").title
    for words in ([str(folder)], [str(folder / "a.ttl"), str(folder / "b.csv")]):
        subject = find_subject(words, "sample:dev", "beam")
        assert "A  20,000" in _said(subject, "what is the population of Nuuk?")
        assert "A  Ivo Marsh" in _said(subject, "who is the teacher of Ada Falk?")
    (tmp_path / "empty.nt").write_text("")
    with pytest.raises(DataError, match="has no fact"):
        find_subject([str(tmp_path / "empty.nt")], "sample:dev", "beam")
