from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.data import read_dialogues
from kg.errors import DataError

GOOD = {"id": "a", "dialogue_break": ["revenue?"], "turn_program": ["120"]}


def test_dialogues_are_read_and_filtered(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps(GOOD) + "\n\n" + json.dumps({**GOOD, "id": "b"}) + "\n")
    dialogues = read_dialogues(path)
    assert [item[0] for item in dialogues.items] == ["a", "b"]
    assert dialogues.without({"a"}).items == (("b", ("revenue?",), ("120",)),)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"d\.jsonl: line 1: is no dialogue"),
        ("[]", "is no dialogue"),
        (json.dumps({**GOOD, "turn_program": ["what"]}), "neither|no step"),
        (json.dumps({**GOOD, "turn_program": []}), "has 0 programs for 1 questions"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(line)
    with pytest.raises(DataError, match=message):
        read_dialogues(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_dialogues(tmp_path / "nowhere.jsonl")
