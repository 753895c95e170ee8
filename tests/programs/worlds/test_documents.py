"""The conventions of DSPy's modules around the program for a conversation."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import dspy
import pytest

from experiments.saved import find_program
from kg.errors import ConfigError, DataError
from kg.readers import read_files
from kg.reports import CellSource, Report, build_ontology
from kg.search import Derivation, PastTurn
from programs.conversation import ConversationQA
from programs.worlds.documents import past_turns

RECORD = {
    "id": "r",
    "pre_text": [],
    "table": [["", "2009", "2008"], ["net income", "$ 103", "$ 104"], ["net sales", "$ 900", "$ 800"]],
    "post_text": [],
}
QUESTION = "what was the net income in 2009?"


@pytest.fixture(scope="module")
def report() -> Report:
    return Report.from_dict(RECORD)


@pytest.fixture(scope="module")
def program() -> Any:
    return find_program("beam").program


def test_a_question_gives_a_prediction_with_its_grounds(program: Any, report: Report) -> None:
    found = program(report=report, question=QUESTION)
    assert found.answer == "103"
    assert found.derivation == "103"
    assert found.path.endswith("_2009 -> net_income -> 103")
    assert 0 < found.confidence <= 1
    assert found.sources == [CellSource(1, 1, 0, 5)]
    assert found.turns == [found.turn]
    assert found.turn.answer == Decimal(103)


def test_a_document_may_be_an_object_a_path_or_files(program: Any, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(RECORD))
    (tmp_path / "r.csv").write_text("\n".join(",".join(row) for row in RECORD["table"]))
    own = read_files([tmp_path / "r.csv"])
    for document in (RECORD, str(tmp_path / "r.json"), tmp_path / "r.csv", own):
        assert program(report=document, question=QUESTION).answer == "103"


def test_a_text_is_not_a_list_of_questions(program: Any, report: Report) -> None:
    with pytest.raises(ConfigError, match="questions must be a list of texts, got the text 'why\\?'; use question"):
        program(report=report, questions="why?")
    with pytest.raises(ConfigError, match="one of question and questions must be given, got none"):
        program(report=report)
    with pytest.raises(ConfigError, match="got both"):
        program(report=report, question=QUESTION, questions=[QUESTION])


def test_a_history_of_dspy_is_what_was_asked_before(program: Any, report: Report) -> None:
    history = dspy.History(messages=[{"question": QUESTION, "answer": "103"}])
    found = program(report=report, question="and in 2008?", history=history)
    assert found.answer == "104"
    assert len(found.turns) == 1
    own = program(report=report, question="and in 2008?", history=past_turns(history))
    assert own.answer == "104"
    assert own.derivation == found.derivation


def test_messages_with_calculations_and_without_answers() -> None:
    messages = [
        {"question": "a", "derivation": "subtract(5, 3)", "answer": "2"},
        {"question": "b", "answer": "1,234"},
        {"question": "c", "answer": "I do not know"},
    ]
    assert past_turns(dspy.History(messages=messages)) == (
        PastTurn("a", Derivation.parse("subtract(5, 3)"), Decimal(2)),
        PastTurn("b", Derivation.parse("1234"), Decimal(1234)),
        PastTurn("c", None, None),
    )
    with pytest.raises(DataError, match="must have a question, got the keys role"):
        past_turns(dspy.History(messages=[{"role": "user"}]))


def test_a_state_is_refused_by_a_program_with_other_parts(program: Any, report: Report, tmp_path: Path) -> None:
    program.save(str(tmp_path / "p.json"))
    again = find_program("beam").program
    again.load(str(tmp_path / "p.json"))
    assert again(report=report, question=QUESTION).answer == "103"
    other = ConversationQA.unfitted(build_ontology([report]))
    with pytest.raises(ConfigError, match="with another ontology and scorer, which it does not hold"):
        other.load(str(tmp_path / "p.json"))
