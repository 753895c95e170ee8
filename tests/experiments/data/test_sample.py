"""The sample that ships: its splits share no report, and no sentence is copied from ConvFinQA."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "experiments" / "sample"
SPLITS = ("train", "dev")


def _load(split: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads((SAMPLE / f"{split}.json").read_text(encoding="utf-8"))
    return records


RECORDS = {split: _load(split) for split in SPLITS}
ALL = [record for split in SPLITS for record in RECORDS[split]]


def _page(record: dict[str, Any]) -> str:
    page: str = re.sub(r"^(Single|Double)_|(?<=\.pdf)-\d+$", "", record["id"])
    return page


def _sentences(record: dict[str, Any]) -> list[str]:
    return [*record["pre_text"], *record["post_text"]]


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
