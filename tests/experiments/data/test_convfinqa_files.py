"""The whole ConvFinQA, where it is installed."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

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
