"""The examples that the adapter for news is trained on: passages read together, with all their questions."""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"

TEXT = """# A1 | 2026-02-03 | Tarrant Mills to cut 240 jobs
S Tarrant Mills will cut 240 jobs in Keld and Orm.
Q where do jobs go at Tarrant => Orm ;; Keld
Q Will Tarrant cut jobs? => yes
Q Who runs Tarrant? => -
Q How many jobs go? => two hundred and forty

# A2 | 2026-01-06 | Ardent buys Tarrant Mills
S Ardent Holdings has bought Tarrant Mills for $85 million.
Q What did Tarrant cost? => $85 million
"""


@pytest.fixture
def quotes(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("fit_quotes")
    for name in ("fit_quotes", "passage_readings"):
        sys.modules.pop(name, None)


def test_passages_are_read_together_with_their_questions(quotes: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    other = TEXT.replace("A1", "B1").replace("A2", "B2").replace("Tarrant", "Oriel")
    (tmp_path / "b.txt").write_text(other, encoding="utf-8")
    generator = random.Random(3)
    found = [one for group in quotes.contexts([tmp_path / "a.txt", tmp_path / "b.txt"], generator) for one in group]
    replies = {}
    for one in found:
        _, user, reply = one.messages
        assert one.learned == {2}
        replies[user["content"].rpartition("question: ")[2], "Tarrant Mills for" in user["content"]] = reply["content"]
    assert replies["What did Tarrant cost?", True] == "$85 million"
    assert replies["where do jobs go at Tarrant", True] == "Keld; Orm"  # in the order of the passage
    assert replies["Will Tarrant cut jobs?", True] == "yes"
    assert replies["Who runs Tarrant?", True] == "none"
    assert ("How many jobs go?", True) not in replies  # its answer is no quote
    hidden = [reply for (text, shown), reply in replies.items() if "Tarrant" in text and not shown]
    assert hidden
    assert set(hidden) == {"none"}
