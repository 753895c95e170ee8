"""The passages with questions that the reader of news is fitted on."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parents[1] / "benchmarks" / "passage_readings.py"


@pytest.fixture(scope="module")
def passages() -> Any:
    described = importlib.util.spec_from_file_location("passage_readings", FILE)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    sys.modules["passage_readings"] = module
    described.loader.exec_module(module)
    return module


def test_every_answer_is_in_its_passage(passages: Any) -> None:
    files = [*passages.passage_files(kept=False), *passages.passage_files(kept=True)]
    assert sorted(files) == sorted(passages.FOLDER.glob("*.txt"))
    for file in files:
        sentences, questions = passages.read_file(file)
        texts: dict[str, str] = {}
        for one in sentences:
            texts[one.document] = f"{texts.get(one.document, '')} {one.text}"
        spans = [(one.passage, answer) for one in questions for answer in one.answers if answer not in ("yes", "no")]
        assert [span for name, span in spans if span not in texts[name]] == []


@pytest.mark.parametrize(
    ("value", "answer", "same"),
    [
        ("the third quarter", "third quarter", True),
        ("1.7 billion kroner", "1,700 million kroner", True),
        ("5 million crowns", "5 million kroner", False),
        ("Ana Reis", "Reis", False),
        ("20 minutes", "about 20 minutes", True),
    ],
)
def test_a_value_is_an_answer_without_small_words(passages: Any, value: str, answer: str, same: bool) -> None:
    assert passages.is_answer(value, answer) == same
