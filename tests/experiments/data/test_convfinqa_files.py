"""The whole ConvFinQA, where it is installed."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from pathlib import Path

import pytest

from experiments.data import load_conversations
from kg.search.derivation import Derivation
from kg.search.merging import merge_key


@pytest.mark.parametrize(("name", "turns"), [("train", 4077), ("dev", 746)])
def test_every_gold_program_of_convfinqa_executes_to_its_answer(full_data: Path, name: str, turns: int) -> None:
    records = json.loads((full_data / "convfinqa" / f"{name}.json").read_text("utf-8"), parse_float=Decimal)
    mismatches = [
        (record["id"], program, gold)
        for record in records
        for program, gold in zip(
            record["annotation"]["turn_program"], record["annotation"]["exe_ans_list"], strict=True
        )
        if merge_key(Derivation.parse(program).execute(record["table"]))
        != merge_key(gold if gold in ("yes", "no") else Decimal(gold))
    ]
    assert mismatches == []
    assert sum(len(record["annotation"]["turn_program"]) for record in records) == turns


def test_convfinqa_loads_with_its_ragged_tables_named(full_data: Path) -> None:
    train = load_conversations(full_data / "convfinqa", "train")
    assert len(train.conversations) == 1097
    assert [problem.rule.split(" has ")[0] for problem in train.problems] == ["table row 1"] * 4
    start = time.process_time()
    dev = load_conversations(full_data / "convfinqa" / "dev.json")
    seconds = time.process_time() - start
    assert (len(dev.conversations), dev.problems) == (207, ())
    assert sum(len(conversation.questions) for conversation in dev.conversations) == 746
    assert seconds < 2
    test = load_conversations(full_data / "convfinqa" / "test_without_gold.json")
    assert (len(test.conversations), test.problems, test.conversations[0].answers) == (434, (), None)
    assert sum(len(conversation.questions) for conversation in test.conversations) == 1521
