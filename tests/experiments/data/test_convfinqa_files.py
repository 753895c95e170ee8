"""The whole ConvFinQA, where it is installed."""

from __future__ import annotations

import time
from pathlib import Path

from experiments.data import load_conversations


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
