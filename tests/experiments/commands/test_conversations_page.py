"""The page about conversations shows what the commands print and what the API returns."""

from __future__ import annotations

import io
import re
from pathlib import Path

from experiments.facade.session import ChatSession
from experiments.facade.subjects import find_subject
from tests.demonstrations import needs_reader

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "conversations.md"


@needs_reader
def test_the_transcript_is_what_the_chat_says() -> None:
    transcript = re.findall(r"```text\n(> Which countries.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    out = io.StringIO()
    chat = ChatSession(find_subject(["geography"]), out, colour=False)
    for line in transcript.splitlines():
        if line.startswith("> "):
            out.write(f"{line}\n")
            chat.take(line[2:])
    told, page = (re.sub(r" *\(?confidence +\d+%\)?", "", text) for text in (out.getvalue(), transcript))
    assert told == page
    assert len(chat.conversation.turns) > 2


def test_the_python_example_runs() -> None:
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(code, names)
    turn = names["turn"]
    assert (turn.words, turn.canonical) == ("Berlin", "What is Germany's capital?")  # type: ignore[attr-defined]
    assert len(names["later"].turns) == 2  # type: ignore[attr-defined]
