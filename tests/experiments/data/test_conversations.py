"""Conversations from every kind of source, with each rule of the format broken once."""

from __future__ import annotations

import copy
import hashlib
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from experiments.data import join_loaded, load_conversations
from kg.errors import ConfigError, DataError

GOOD: dict[str, Any] = {
    "id": "Single_ACME/2020/page_7.pdf-1",
    "pre_text": ["revenue grew ."],
    "post_text": [],
    "table": [["", "2020", "2019"], ["revenue", "$ 120", "$ 100"]],
    "annotation": {
        "dialogue_break": ["what was the revenue in 2020?", "and the change, as a share?", "did it grow?"],
        "turn_program": ["120", "subtract(120, 100), divide(#0, 100)", "greater(120, 100)"],
        "exe_ans_list": [120.0, 0.2, "yes"],
        "qa_split": [0, 0, 0],
    },
}


def other(number: int, **annotation: Any) -> dict[str, Any]:
    """A copy under another id, with parts of its annotation replaced."""
    record = copy.deepcopy(GOOD)
    record["id"] = f"Double_ACME/2020/page_{number}.pdf"
    record["annotation"] |= annotation
    return record


def write(path: Path, records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def rules(tmp_path: Path, *records: Any) -> list[str]:
    """The problems of the records, which are read beside a good conversation that must always load."""
    loaded = load_conversations(write(tmp_path / "dev.json", [GOOD, *records]))
    assert [conversation.id for conversation in loaded.conversations] == [GOOD["id"]]
    assert all(problem.file == "dev.json" for problem in loaded.problems)
    return [str(problem) for problem in loaded.problems]


def test_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "dev.json", [GOOD, other(8)])
    loaded = load_conversations(path)
    first, second = loaded.conversations
    assert (loaded.name, loaded.split, loaded.problems) == ("dev.json", "dev", ())
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert first.questions == tuple(GOOD["annotation"]["dialogue_break"])
    assert first.programs == tuple(GOOD["annotation"]["turn_program"])
    assert first.answers == (Decimal("120.0"), Decimal("0.2"), "yes")
    assert first.qa_split == (0, 0, 0)
    assert first.report.table == (("", "2020", "2019"), ("revenue", "$ 120", "$ 100"))
    assert first.report.id == "ACME/2020/page_7.pdf"
    assert second.report.id == "ACME/2020/page_8.pdf"


def test_numbers_are_read_exactly_as_written(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    record = other(1, dialogue_break=["?"], turn_program=["0.1"], exe_ans_list=["@"], qa_split=None)
    path.write_text(json.dumps([record]).replace('"@"', "0.10000000000000000001"), encoding="utf-8")
    loaded = load_conversations(path)
    assert loaded.conversations[0].answers == (Decimal("0.10000000000000000001"),)
    assert (loaded.split, loaded.conversations[0].qa_split) == ("data", None)


def test_conversations_about_one_document_share_its_report(tmp_path: Path) -> None:
    twin, impostor = copy.deepcopy(GOOD), copy.deepcopy(GOOD)
    twin["id"], impostor["id"] = GOOD["id"][:-1] + "2", GOOD["id"][:-1] + "3"
    impostor["pre_text"] = ["another text under the same name ."]
    first, second, third = load_conversations(write(tmp_path / "x.json", [GOOD, twin, impostor])).conversations
    assert first.report is second.report
    assert third.report.id == impostor["id"]


def test_a_test_file_without_gold(tmp_path: Path) -> None:
    record = copy.deepcopy(GOOD)
    record["annotation"] = {"dialogue_break": ["what was the revenue in 2020?"]}
    loaded = load_conversations(write(tmp_path / "test_private.json", [record]))
    conversation = loaded.conversations[0]
    assert (conversation.programs, conversation.answers, conversation.qa_split) == (None, None, None)
    assert (loaded.split, loaded.problems) == ("test", ())


def test_ragged_tables_and_repeated_ids_are_named(tmp_path: Path) -> None:
    record = other(1)
    record["table"] = [["", "2020", "2019"], ["revenue", "$ 120"], ["cost"]]
    ragged, repeated = rules(tmp_path, record, GOOD)
    assert ragged.endswith("table row 1 has 2 cells, row 0 has 3")
    assert repeated.endswith("id is that of conversation number 1 too")


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ({"dialogue_break": None}, ["dialogue_break"]),
        ({"dialogue_break": ["a?", "b?", "\ud800"]}, ["dialogue_break.2"]),
        ({"turn_program": ["120"]}, ["turn_program has 1 entries for 3 questions"]),
        ({"exe_ans_list": [120]}, ["exe_ans_list has 1 entries for 3 questions"]),
        ({"qa_split": [0]}, ["qa_split has 1 entries for 3 questions"]),
        ({"qa_split": [0, 1, 2]}, ["qa_split.2"]),
        ({"exe_ans_list": [121, 0.2, "no"]}, ["turn 1: the program '120'", "turn 3: the program 'greater"]),
        ({"exe_ans_list": [120, None, "yes"]}, ["exe_ans_list.1", "exe_ans_list.1"]),
        ({"exe_ans_list": [120, 0.2, "maybe"]}, ["turn 3: exe_ans must be a number"]),
        ({"exe_ans_list": [120, float("nan"), "yes"]}, ["turn 2: exe_ans must be a number"]),
        ({"turn_program": ["120", None, "greater(120, 100)"]}, ["turn_program.1"]),
        ({"turn_program": ["120", "halve(120, 2)", "greater(120, 100)"]}, ["turn 2: 'halve(120, 2)'"]),
        ({"turn_program": ["120", "divide(120, 0)", "greater(120, 100)"]}, ["turn 2: divide(120, 0)"]),
    ],
)
def test_wrong_annotations(tmp_path: Path, annotation: dict[str, Any], expected: list[str]) -> None:
    problems = rules(tmp_path, other(1, **annotation))
    assert len(problems) == len(expected)
    for problem, words in zip(problems, expected, strict=True):
        assert words in problem.removeprefix("dev.json: conversation 'Double_ACME/2020/page_1.pdf': ")


@pytest.mark.parametrize(
    ("record", "place"),
    [
        ("text", "conversation number 2: "),
        ({key: value for key, value in GOOD.items() if key != "id"}, "conversation number 2: id"),
        ({key: value for key, value in GOOD.items() if key != "table"} | {"id": "B"}, "conversation 'B': table"),
        (GOOD | {"id": "B", "annotation": {}}, "conversation 'B': annotation.dialogue_break"),
        (GOOD | {"id": "B", "post_text": [None]}, "conversation 'B': post_text.0"),
        (GOOD | {"id": "B", "table": [[None]]}, "conversation 'B': table.0.0"),
    ],
)
def test_wrong_shapes(tmp_path: Path, record: Any, place: str) -> None:
    [rule] = rules(tmp_path, record)
    assert rule.startswith(f"dev.json: {place}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[{"id": 1},\n  {"id" 2}]', r"^dev\.json: is not a JSON list of conversations: Expecting.* line 2 column 9"),
        (b"{}", r"^dev\.json: is not a JSON list of conversations: it is a dict$"),
        (b"[{}] x", r"^dev\.json: is not a JSON list of conversations: Extra data: line 1 column 6"),
        (b"", r"^dev\.json: is not a JSON list of conversations: .*line 1 column 1"),
        (b" [ ] ", r"^dev\.json: holds no conversations$"),
        (b'["\xff"]', r"^dev\.json: is not a JSON list of conversations: 'utf-8' codec"),
    ],
)
def test_files_that_are_no_json_list(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "dev.json").write_bytes(content)
    with pytest.raises(DataError, match=message):
        load_conversations(tmp_path / "dev.json")


def test_sources(tmp_path: Path) -> None:
    folder = tmp_path / "convfinqa"
    write(folder / "train.json", [GOOD])
    write(folder / "dev.json", [other(1)])
    write(folder / "dev_turn.json", [{"another": "format"}])
    loaded = load_conversations(folder, "dev")
    assert (loaded.name, loaded.split) == ("convfinqa/dev.json", "dev")
    assert loaded == load_conversations(f"{folder}:dev")
    with pytest.raises(ConfigError, match=r"holds several splits \(train, dev\); name one of them: .*:train$"):
        load_conversations(folder)
    with pytest.raises(ConfigError, match="got 'test'"):
        load_conversations(f"{folder}:test")


def test_sources_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.json: no such file or folder; give a file \(JSON"):
        load_conversations(tmp_path / "nowhere.json")
    with pytest.raises(DataError, match=r"holds none of train\.json, dev\.json"):
        load_conversations(tmp_path)
    write(tmp_path / "test.json", [GOOD])
    write(tmp_path / "test_private.json", [GOOD])
    with pytest.raises(ConfigError, match=r"holds once \(test, test\), got 'test'"):
        load_conversations(tmp_path, "test")


def test_answers_in_place_of_programs(tmp_path: Path) -> None:
    questions = ["which year was highest?", "how many staff?", "by how much?", "is it more?"]
    answers = [["2020"], None, "5.4%", "yes"]
    kept = other(1)
    kept["annotation"] = {"dialogue_break": questions, "answers": answers, "why": "not stated"}
    both = other(2, answers=[["2020"], None, "yes"])
    wrong = other(3)
    wrong["annotation"] = {"dialogue_break": questions, "answers": [[], "about five", None, "no"]}
    short = other(4)
    short["annotation"] = {"dialogue_break": questions, "answers": ["5"]}
    loaded = load_conversations(write(tmp_path / "dev.json", [kept, both, wrong, short]))
    [one] = loaded.conversations
    assert (one.programs, one.answers) == (None, None)
    assert one.gold == (("2020",), None, Decimal("0.054"), "yes")
    rules = [str(problem) for problem in loaded.problems]
    assert "must have 'answers' or 'turn_program', not both" in rules[0]
    assert "turn 1: a gold answer must name at least one name, got an empty list" in rules[1]
    assert "turn 2: a gold answer must be a number, yes, no, a list of names or null, got 'about five'" in rules[2]
    assert "answers has 1 entries for 4 questions" in rules[3]


def test_several_files_are_taken_together_and_a_repeated_conversation_is_named() -> None:
    train, dev = load_conversations("sample:train"), load_conversations("sample:dev")
    joined = join_loaded([train, dev, dev])
    assert joined.conversations == (*train.conversations, *dev.conversations)
    assert [problem.place for problem in joined.problems] == [conversation.id for conversation in dev.conversations]
    assert joined.name == f"{train.name} + {dev.name} + {dev.name}"
    assert joined.sha256 not in (train.sha256, dev.sha256)
    assert join_loaded([train]) is train
