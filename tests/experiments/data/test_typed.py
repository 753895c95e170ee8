"""Conversations in the forms of the datasets library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import pytest

from experiments.data import load_conversations
from kg.errors import ConfigError, DataError

PAGE = {"pre_text": ["cash was $ 5 million ."], "post_text": [], "table": [["", "2009"], ["net income", "$ 7"]]}
PROGRAMS = {"dialogue_break": ["and in 2009?"], "turn_program": ["7"], "exe_ans_list": ["7.0"], "qa_split": [0]}
NAMES = {"dialogue_break": ["which year?", "and who?"], "answers": ['["2009"]', None]}
RECORDS: list[dict[str, Any]] = [
    {"id": "A-1", "margin": 9.5, **PAGE, "annotation": {**PROGRAMS, "answers": None}},
    {"id": "A-2", "margin": None, **PAGE, "annotation": {**dict.fromkeys(PROGRAMS), **NAMES}},
]
TEXT = datasets.Value("string")
TEXTS = datasets.List(TEXT)
ANNOTATION = {**dict.fromkeys([*PROGRAMS, "answers"], TEXTS), "qa_split": datasets.List(datasets.Value("int32"))}
FEATURES = datasets.Features(
    {
        "id": TEXT,
        "pre_text": TEXTS,
        "post_text": TEXTS,
        "table": datasets.List(TEXTS),
        "margin": datasets.Value("float64"),
        "annotation": ANNOTATION,
    }
)


@pytest.fixture
def data() -> Any:
    return datasets.Dataset.from_list(RECORDS, features=FEATURES)


def test_every_form_gives_the_same_conversations(data: Any, tmp_path: Path) -> None:
    data.to_parquet(tmp_path / "dev.parquet")
    data.to_json(tmp_path / "dev.jsonl")
    data.save_to_disk(tmp_path / "folder")
    expected = load_conversations(data)
    assert [one.id for one in expected.conversations] == ["A-1", "A-2"]
    assert expected.problems == ()
    assert expected.conversations[0].programs == ("7",)
    assert [one.margin for one in expected.conversations] == [9.5, None]
    assert expected.conversations[1].gold == (("2009",), None)
    for source in (tmp_path / "dev.parquet", str(tmp_path / "dev.jsonl"), tmp_path / "folder"):
        assert load_conversations(source).conversations == expected.conversations


def test_splits_are_named(data: Any, tmp_path: Path) -> None:
    both = datasets.DatasetDict({"train": data.select([0]), "validation": data.select([1])})
    assert [one.id for one in load_conversations(both, "dev").conversations] == ["A-2"]
    with pytest.raises(ConfigError, match=r"several splits \(train, dev\)"):
        load_conversations(both)
    both.save_to_disk(tmp_path / "folder")
    assert [one.id for one in load_conversations(f"{tmp_path / 'folder'}:train").conversations] == ["A-1"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_broken_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"{broken")
    with pytest.raises(DataError, match=rf"{name}: cannot be read as a data set"):
        load_conversations(tmp_path / name)


def test_a_name_on_the_hub_is_asked_for(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def load(name: str) -> Any:
        asked.append(name)
        return datasets.DatasetDict({"train": data})

    monkeypatch.setattr(datasets, "load_dataset", load)
    assert len(load_conversations("hf:owner/name").conversations) == 2
    assert asked == ["owner/name"]
