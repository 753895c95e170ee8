from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pytest

from experiments.data import join_questions, load_conversations, load_questions
from experiments.data.questions import read_metaqa, read_pathquestion
from kg.errors import ConfigError, DataError


def write(folder: Path, name: str, *lines: object) -> str:
    path = folder / name
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n", "utf-8")
    return str(path)


def test_pathquestion_lines() -> None:
    tail = "#<end>#c"
    one = read_pathquestion(f"what is a 's b 's c ?\tc(c/d (x)/)\ta#b#e#c#c{tail}", "q1")
    assert (one.id, one.question, one.topics, one.answers) == ("q1", "what is a 's b 's c ?", ("a",), ("c", "d (x)"))
    assert one.gold_paths == ("a -> b -> e -> c -> c",)
    # PathQuestion-Large has no tail, and answers may have brackets of their own.
    large = read_pathquestion("who ?\tx (y)(x (y)/)\ta#b#x (y)", "q2")
    assert (large.answers, large.gold_paths) == (("x (y)",), ("a -> b -> x (y)",))


def test_metaqa_lines() -> None:
    one = read_metaqa("what films did [Patsha Bay] act in\tViva Riva!|Viva Riva!|Other", "q")
    assert (one.question, one.topics) == ("what films did Patsha Bay act in", ("Patsha Bay",))
    assert one.answers == ("Viva Riva!", "Other")
    assert read_metaqa("what films are there\tA", "q").topics == ()
    assert read_metaqa("who directed [[REC]] ?\tA", "q").topics == ("[REC]",)


@pytest.mark.parametrize(
    ("form", "line", "rule"),
    [
        ("pathquestion", "who ?\tx(x/)", "must have 3 columns with tabs between them"),
        ("pathquestion", "who ?\tx\ta#b#x", "the answer must be written answer(answer1/answer2/), got 'x'"),
        ("pathquestion", "who ?\tx(x/)\ta#b", "the path must be entity#relation#entity#..., got 'a#b'"),
        ("worldcup", "who ?\tx\ta#b#x\t/", "has no answer to score against"),
        ("metaqa", "who acted in [X]", "must have 2 columns"),
        ("metaqa", "\tX", "got an empty column"),
        ("webqsp", "[1]", "the line: "),
        ("webqsp", '{"answer": ["a"]}', "question: "),
        ("webqsp", '{"question": "q", "answer": [1]}', "answer.0: "),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(tmp_path: Path, form: str, line: str, rule: str) -> None:
    good = {
        "pathquestion": "who ?\tx(x/)\ta#b#x",
        "worldcup": "who ?\tx\ta#b#x\tx/",
        "metaqa": "who is [a]\tx",
        "webqsp": json.dumps({"question": "who ?", "answer": ["x"], "q_entity": ["a"]}),
    }
    loaded = load_questions(write(tmp_path, "q.txt", good[form], line, ""), form)
    assert len(loaded.questions) == 1
    [problem] = loaded.problems
    assert problem.startswith("q.txt: line 2: ")
    assert rule in problem


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_bytes("\ufeffwho is [ä]\tx\n".encode() + b"who is [\xff]\tx\n")
    loaded = load_questions(str(path), "metaqa")
    assert [question.topics for question in loaded.questions] == [("ä",)]
    assert loaded.problems == ("q.txt: line 2: is not UTF-8",)


def test_a_file_without_questions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no question can be read in the format metaqa; the first: q.txt: line 1: "):
        load_questions(write(tmp_path, "q.txt", "nothing"), "metaqa")
    with pytest.raises(DataError, match="is not there"):
        load_questions(str(tmp_path / "none.txt"), "metaqa")
    with pytest.raises(DataError, match="is a folder"):
        load_questions(str(tmp_path), "webqsp")
    with pytest.raises(ConfigError, match=r"format must be one of pathquestion, .*, got 'csv'"):
        load_questions("x", "csv")


def test_files_are_joined(tmp_path: Path) -> None:
    parts = [load_questions(write(tmp_path, name, f"who is [{name}]\tx"), "metaqa") for name in ("a.txt", "b.txt")]
    joined = join_questions(parts)
    assert [question.id for question in joined.questions] == ["a-1", "b-1"]
    assert joined.name == "a.txt, b.txt"
    assert len(joined.sha256) == 64
    assert join_questions(parts[:1]) is parts[0]
    assert len(join_questions([parts[0], parts[0]]).problems) == 1


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
    expected = load_conversations(data)
    assert [one.id for one in expected.conversations] == ["A-1", "A-2"]
    assert expected.problems == ()
    assert expected.conversations[0].programs == ("7",)
    assert expected.conversations[1].gold == (("2009",), None)
    for source in (tmp_path / "dev.parquet", str(tmp_path / "dev.jsonl")):
        assert load_conversations(source).conversations == expected.conversations


def test_splits_are_named(data: Any) -> None:
    both = datasets.DatasetDict({"train": data.select([0]), "validation": data.select([1])})
    assert [one.id for one in load_conversations(both, "dev").conversations] == ["A-2"]
    with pytest.raises(ConfigError, match=r"several splits \(train, dev\)"):
        load_conversations(both)


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_broken_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"{broken")
    with pytest.raises(DataError, match=rf"{name}: cannot be read as a data set"):
        load_conversations(tmp_path / name)
