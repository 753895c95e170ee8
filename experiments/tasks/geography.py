"""The shipped graph of countries and cities, and the check of an answer about it.

>>> is_right(ConversationQA.for_graphs()(graph=load_geography(), questions=[question]).turns[0], {"value": "5550203"})
True
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from experiments.console import SAMPLE_FOLDER
from experiments.saved import question_reader
from kg.graphs import FactGraph, read_file
from kg.parsing import QuestionReader
from programs.worlds.graph import QueryTurn

GEOGRAPHY = SAMPLE_FOLDER / "geography.ttl"
"""The file of the graph."""


def load_geography(file: Path = GEOGRAPHY) -> QuestionReader:
    """Returns the reader of questions about the graph of countries and cities."""
    return question_reader(FactGraph.build(read_file(file, file.read_text(encoding="utf-8"))))


def is_right(turn: QueryTurn, expected: Mapping[str, Any]) -> bool:
    """Whether a turn's answer is the expected one.

    Args:
        turn: The turn.
        expected: ``entities`` (names, in any order), ``value`` (to five decimal places), ``values`` (of each name) or
            ``answer`` (yes or no).
    """
    answer = turn.answer
    if "answer" in expected:
        return bool(answer == expected["answer"])
    if "value" in expected:
        written = answer[0] if isinstance(answer, tuple) and len(answer) == 1 else answer
        wanted = Decimal(expected["value"])
        number = Decimal(written) if isinstance(written, str) and written.isdigit() else written
        return isinstance(number, Decimal) and abs(number - wanted) <= abs(wanted) * Decimal("0.00001")
    wanted_names = expected["entities"] if "entities" in expected else expected["values"].values()
    return isinstance(answer, tuple) and sorted(answer) == sorted(wanted_names)
