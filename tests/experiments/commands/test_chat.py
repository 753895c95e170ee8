"""``finpath chat``: through a pipe, on a terminal, and by its commands."""

from __future__ import annotations

import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from experiments.console import wants_colour
from experiments.facade.session import ChatSession, talk
from experiments.facade.subjects import Subject, find_subject
from kg.errors import ConfigError, DataError

ROOT = Path(__file__).resolve().parents[3]
PROMPT = "\x1b[36m> \x1b[0m"
COMMAND = [sys.executable, str(ROOT / "finpath.py"), "chat"]


@pytest.fixture(scope="module")
def subject() -> Subject:
    return find_subject(["geography"], "sample:dev", "beam")


def _said(subject: Subject, *lines: str, colour: bool = False) -> str:
    out = io.StringIO()
    talk(ChatSession(subject, out, colour=colour), io.StringIO("\n".join(lines)))
    return out.getvalue()


def test_questions_and_answers(subject: Subject) -> None:
    assert _said(subject, "Which countries border Portugal?", "", "What is its capital?") == (
        "Q  Which countries border Portugal?\nA  Spain\n"
        "Q  What is its capital?\n   understood  What is Portugal's capital?\nA  Lisbon\n"
    )


def test_why_shows_the_reference_and_the_path(subject: Subject) -> None:
    told = _said(subject, "Which countries border Portugal?", "What is its capital?", "/why")
    assert "possessive reference, resolved by the graph" in told
    assert "refers to   Portugal" in told
    assert "path        Portugal -> capital -> Lisbon" in told
    assert "read in     the graph https://w3id.org/finpath/geography" in told
    assert "no answer   the graph has no 'Peru'" in _said(subject, "What is the capital of Peru?", "/why")


def test_graph_shows_who_is_in_play(subject: Subject) -> None:
    told = _said(subject, "Which countries border Portugal?", "What is its capital?", "/graph")
    assert "   Portugal (Country)\n" in told
    assert "      population 10248000\n" in told
    assert "      country of: Lisbon, Porto\n" in told


def test_reset_history_help_and_quit(subject: Subject) -> None:
    told = _said(
        subject, "Which countries border Portugal?", "/history", "/reset", "/history", "/help", "/quit", "never asked?"
    )
    assert told.count("1. Which countries border Portugal? Spain") == 1
    assert "a new conversation" in told
    assert "/why" in told
    assert "never asked" not in told


def test_save_and_load_go_on(subject: Subject, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    assert f"saved to {path}" in _said(subject, "Which countries border Portugal?", f"/save {path}")
    assert json.loads(path.read_text())["kind"] == "graph"
    told = _said(subject, f"/load {path}", "What is its capital?")
    assert "1 turns, the last: Which countries border Portugal?" in told
    assert told.endswith("A  Lisbon\n")


def test_mistakes_are_said_in_one_line_and_the_conversation_goes_on(subject: Subject, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("[]")
    told = _said(
        subject,
        "/nope",
        "/why",
        f"/load {tmp_path}/none.json",
        f"/load {tmp_path}/bad.json",
        f"/save {tmp_path}/bad.json/folder.json",
        "What is the capital of Norway?",
    ).splitlines()
    assert told[0].startswith("   there is no command /nope; the commands are /why, /graph")
    assert told[1] == "   nothing has been asked yet"
    assert "none.json: cannot be read" in told[2]
    assert "bad.json: a saved conversation must have format 2" in told[3]
    assert "cannot be written" in told[4]
    assert told[-1] == "A  Oslo"


def test_colours_only_where_they_are_wanted(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[1mA  Oslo\x1b[0m" in _said(subject, "What is the capital of Norway?", colour=True)
    assert "\x1b" not in _said(subject, "What is the capital of Norway?")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())


def test_a_question_that_is_stopped_is_forgotten(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.facade import session as module

    out = io.StringIO()
    chat = ChatSession(subject, out, colour=False)
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
    module._talk_at_terminal(chat)
    assert "stopped; the question is forgotten" in out.getvalue()
    assert [one.words for one in chat.conversation.turns] == ["Oslo", "Stockholm"]


def test_what_is_more_than_ctrl_c_ends_the_conversation(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.facade import session as module

    class Terminated(KeyboardInterrupt):
        pass

    def typed(prompt: str) -> str:
        raise Terminated

    monkeypatch.setattr("builtins.input", typed)
    with pytest.raises(Terminated):
        module._talk_at_terminal(ChatSession(subject, io.StringIO(), colour=False))


def test_through_a_pipe(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "geography"],
        input="Which countries border Portugal?\nWhat is its capital?\n",
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("A  Lisbon\n")
    assert "\x1b" not in done.stdout
    assert "> " not in done.stdout


def test_a_conversation_about_a_report(tmp_path: Path, tracking_uri: str) -> None:
    subject = find_subject(["MRLW/2020/page_49.pdf"], "sample:dev", "beam")
    told = _said(subject, "what was the net income in 2020?", "and in 2018?", "/why", "/graph")
    assert "understood  what was the net income in 2018?" in told
    assert "ellipsis reference, to turn 1" in told
    assert 'read in     table, row 2 "net income", column 4 "2018": [$ 38220]' in told
    assert "EarningsPerShare_2018 (EarningsPerShare)" in told


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
    told = _said(subject, "What is the birthplace of Ada Falk?", "/why", "/graph")
    assert "A  Nuuk\\x1b[2J   (confidence " in told
    assert "\x1b" not in told
    assert "   Ada Falk (Painter)\n      birthplace: Nuuk" in told
    plain = tmp_path / "plain.nt"
    plain.write_text("<http://e.org/Ada_Falk> <http://e.org/birthplace> <http://e.org/Nuuk> .\n")
    subject = find_subject([str(plain)], "sample:dev", "beam")
    assert "A  Nuuk   (confidence " in _said(subject, "What is the birthplace of Ada Falk?")
    with pytest.raises(ConfigError, match="a graph must be the only subject"):
        find_subject([str(path), "notes.md"], "sample:dev", "beam")
    with pytest.raises(DataError, match="cannot be read"):
        find_subject([str(tmp_path / "none.nt")], "sample:dev", "beam")


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


def test_a_conversation_about_files(tmp_path: Path, tracking_uri: str) -> None:
    path = tmp_path / "income.csv"
    path.write_text(",2020,2019\nNet sales,4120,3980\nNet income,402,371\n")
    subject = find_subject([str(path)], "sample:dev", "beam")
    told = _said(subject, "what were net sales in 2020?", "/why")
    assert 'read in     income.csv, line 2, cell B2, row "Net sales", column "2020": [4120]' in told


class Typist:
    """A terminal with somebody who types."""

    def __init__(self, folder: Path) -> None:
        pty = pytest.importorskip("pty")
        environment = {**os.environ, "TERM": "xterm", "XDG_STATE_HOME": str(folder)}
        environment.pop("NO_COLOR", None)
        process, self.terminal = pty.fork()
        if process == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests themselves run in the background
            os.execve(sys.executable, [*COMMAND, "geography"], environment)
        self.process = process
        self.seen = ""

    def wait_for(self, *texts: str) -> str:
        """Reads until the texts have come, one after the other, since the last call."""
        end = time.monotonic() + 90
        pattern = re.compile(".*".join(map(re.escape, texts)), re.DOTALL)
        while time.monotonic() < end:
            match = pattern.search(self.seen)
            if match is not None:
                self.seen = self.seen[match.end() :]
                return match[0]
            self.read(0.2)
        os.kill(self.process, signal.SIGKILL)  # nobody will end it otherwise
        pytest.fail(f"{texts} did not come: {self.seen!r}")

    def type(self, keys: str, *texts: str) -> str:
        os.write(self.terminal, keys.encode())
        return self.wait_for(*texts, PROMPT)

    def interrupt(self) -> None:
        """Types Ctrl-C until a new prompt comes: Python loses a signal between a key and its wait for the next."""
        for _ in range(20):
            os.write(self.terminal, b"\x03")
            end = time.monotonic() + 3
            while time.monotonic() < end and PROMPT not in self.seen:
                self.read(0.2)
            if PROMPT in self.seen:
                break
        self.wait_for(PROMPT)

    def read(self, seconds: float) -> None:
        if select.select([self.terminal], [], [], seconds)[0]:
            self.seen += os.read(self.terminal, 65536).decode(errors="replace")

    def ended(self) -> int:
        try:
            while os.read(self.terminal, 65536):
                pass
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
def test_on_a_terminal(tmp_path: Path) -> None:
    typist = Typist(tmp_path)
    typist.wait_for(PROMPT)
    typist.type("Which countries border Portugal?\r", "\x1b[1mA  Spain\x1b[0m")
    typist.type("What is its capital?\r", "\x1b[1mA  Lisbon\x1b[0m")
    typist.type("/why\r", "Portugal -> capital -> Lisbon")
    os.write(typist.terminal, b"half a line")
    typist.wait_for("half a line")
    typist.interrupt()
    typist.type("\x1b[A\x1b[A\r", "Lisbon\x1b[0m")
    os.write(typist.terminal, b"\x04")
    assert typist.ended() == 0
