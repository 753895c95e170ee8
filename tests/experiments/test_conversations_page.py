"""The guide to conversations: its transcript and its example in Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments.asking import QuestionLog
from experiments.commands.ask import Chat
from experiments.facade import find_subject
from tests.demonstrations import needs_reader

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "conversations.md"


@needs_reader
def test_the_transcript_is_what_the_chat_says(capsys: pytest.CaptureFixture[str]) -> None:
    transcript = re.findall(r"```text\n(> Which countries.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    chat = Chat(find_subject(["geography"]), QuestionLog())
    for line in transcript.splitlines():
        if line.startswith("> "):
            print(line)
            chat.take(line[2:])
    output, page = (re.sub(r" *\(confidence \d+%\)", "", text) for text in (capsys.readouterr().out, transcript))
    assert output == page
    assert len(chat.conversation.turns) > 2


def test_the_python_example_runs() -> None:
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(code, names)
    turn = names["turn"]
    assert (turn.words, turn.canonical) == ("Berlin", "What is Germany's capital?")  # type: ignore[attr-defined]
    assert len(names["later"].turns) == 2  # type: ignore[attr-defined]
