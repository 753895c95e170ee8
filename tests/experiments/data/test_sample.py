"""The sample that ships: every program executes, every figure is in its report, and the variety is there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kg.search.derivation import Derivation

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "experiments" / "sample"
SPLITS = ("train", "dev")
FIGURE = re.compile(r"(?<![\w.-])-?(?:\d+(?:\.\d+)?|\.\d+)(?:%|(?!\w))")


def _load(split: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads((SAMPLE / f"{split}.json").read_text(encoding="utf-8"))
    return records


RECORDS = {split: _load(split) for split in SPLITS}
ALL = [record for split in SPLITS for record in RECORDS[split]]


def _page(record: dict[str, Any]) -> str:
    page: str = re.sub(r"^(Single|Double)_|(?<=\.pdf)-\d+$", "", record["id"])
    return page


def _turns(records: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str, str, float | str]]:
    for record in records:
        notes = record["annotation"]
        for turn in zip(notes["dialogue_break"], notes["turn_program"], notes["exe_ans_list"], strict=True):
            yield (record, *turn)


def _figures(texts: list[str]) -> set[str]:
    """The figures of the texts as a program may write them: ``14%`` also as ``14``, ``-2913`` also as ``2913``."""
    found = {figure for text in texts for figure in FIGURE.findall(text)}
    found |= {figure.removesuffix("%") for figure in found}
    return found | {figure.removeprefix("-") for figure in found}


def _cells(record: dict[str, Any]) -> list[str]:
    return [cell for row in record["table"] for cell in row]


def _sentences(record: dict[str, Any]) -> list[str]:
    return [*record["pre_text"], *record["post_text"]]


@pytest.mark.parametrize("split", SPLITS)
def test_programs_execute_to_their_answers(split: str) -> None:
    for record, question, program, expected in _turns(RECORDS[split]):
        answer = Derivation.parse(program).execute(record["table"])
        if isinstance(expected, str):
            assert answer == expected, (record["id"], question)
        else:
            assert not isinstance(answer, str), (record["id"], question)
            assert float(round(answer, 5)) == expected, (record["id"], question)


@pytest.mark.parametrize("split", SPLITS)
def test_operands_stand_in_their_report(split: str) -> None:
    for record, question, program, _ in _turns(RECORDS[split]):
        figures = _figures(_cells(record) + _sentences(record))
        missing = [number.text for number in Derivation.parse(program).numbers if number.text not in figures]
        assert not missing, (record["id"], question)


def test_no_report_is_in_both_splits() -> None:
    pages = [{_page(record) for record in RECORDS[split]} for split in SPLITS]
    texts = [{sentence for record in RECORDS[split] for sentence in _sentences(record)} for split in SPLITS]
    assert not pages[0] & pages[1]
    assert not texts[0] & texts[1]


@pytest.mark.parametrize("name", ["train.json", "dev.json", "test_without_gold.json"])
def test_no_sentence_is_copied(full_data: Path, name: str) -> None:
    path = full_data / "convfinqa" / name
    theirs = {sentence for record in json.loads(path.read_text(encoding="utf-8")) for sentence in _sentences(record)}
    copied = {sentence for record in ALL for sentence in _sentences(record)} & theirs
    assert not [sentence for sentence in copied if len(sentence.split()) >= 9], "shorter ones are formulas of filings"
