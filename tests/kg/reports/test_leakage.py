"""No gold answer reaches what a program sees. Each check is shown to fail when an answer is let in."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from experiments.data import load_conversations
from kg.calculations import DerivationScorer
from kg.reports.graph import ReportGraph, build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.ontology import Ontology
from kg.reports.report import Report
from programs.agent.tools import Session
from programs.conversation import ConversationQA
from programs.turns.turn import PastTurn, Turn
from programs.worlds.report import ReportReader

PLANTED = "77345.125"
"""The gold answer of every record here: no sum, difference, product or quotient of the document's figures."""

RECORD: dict[str, Any] = {
    "id": "Single_ACME/2009/page_3.pdf-1",
    "pre_text": ["cash was $ 118 million in 2009 ."],
    "post_text": [],
    "table": [["", "2009", "2008"], ["net income", "$ 103", "$ 104"], ["sales", "7", "8"]],
    "annotation": {
        "dialogue_break": ["what was net income in 2009?", "and in 2008?"],
        "turn_program": [PLANTED, PLANTED],
        "exe_ans_list": [float(PLANTED), float(PLANTED)],
        "qa_split": [0, 0],
    },
    "answer": PLANTED,
    "gold": {"answer": PLANTED},
}


def leaks(*seen: object) -> bool:
    """Whether the planted answer is in anything that a program sees, however it is written."""
    text = "\n".join(map(str, seen)).replace(",", "")
    return any(form in text for form in (PLANTED, PLANTED.replace(".", "_"), PLANTED.rstrip("5")))


_UNDERSTOOD = {
    "understanding": '{"description": "net income", "properties": ["net income"], "periods": ["2009"], '
    '"operation": "select"}'
}
_PICKED = {"choice": "1", "confidence": "0.9"}


def prompts_of(report: Report, questions: Sequence[str], ontology: Ontology) -> list[str]:
    """Every prompt that the beam program writes about a report."""
    model = DummyLM([_UNDERSTOOD, _PICKED] * len(questions))
    with dspy.context(lm=model, adapter=dspy.ChatAdapter()):
        ConversationQA.unfitted(ontology)(report=report, questions=questions)
    return [json.dumps([entry["prompt"], entry["messages"]], default=str) for entry in model.history]


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([RECORD]))
    return path


def _ontology() -> Ontology:
    return build_ontology([Report.from_dict(RECORD)])


def _graph() -> ReportGraph:
    return build_report_graph(Report.from_dict(RECORD), _ontology())


def test_what_a_program_receives_and_remembers_has_no_field_for_gold() -> None:
    for kind in (Report, PastTurn, Turn, ReportGraph):
        names = {field.name for field in dataclasses.fields(kind)} | set(typing.get_type_hints(kind))
        assert not {name for name in names if any(word in name for word in ("gold", "label", "expected", "exe_ans"))}


def test_no_triple_holds_the_answer() -> None:
    graph = _graph()
    assert not leaks(*graph.graph, graph.to_turtle(), *graph.observations)


def test_no_path_and_no_candidate_holds_the_answer(dev: Path) -> None:
    conversation = load_conversations(dev).conversations[0]
    turns = ConversationQA.unfitted(_ontology())(report=conversation.report, questions=conversation.questions).turns
    assert all(turn.candidates for turn in turns)
    for turn in turns:
        assert not leaks(turn, *(candidate.path for candidate in turn.candidates))


def test_no_tool_gives_the_answer() -> None:
    reader = ReportReader(_ontology(), DerivationScorer.untrained())
    session = Session(reader.read(Report.from_dict(RECORD))[1], reader.ontology, "?", ())
    types = session.introspect_ontology("list_types")
    assert not leaks(types, *(session.query_kg(kind) for kind in types.split(", ")))


def test_no_prompt_holds_the_answer(dev: Path) -> None:
    conversation = load_conversations(dev).conversations[0]
    prompts = prompts_of(conversation.report, conversation.questions, _ontology())
    assert len(prompts) >= 2
    assert "net income" in prompts[0]
    assert not leaks(*prompts)


def test_the_ontology_holds_no_answer_and_no_question() -> None:
    text = _ontology().to_turtle()
    assert not leaks(text)
    assert "what was" not in text


def test_these_checks_can_fail() -> None:
    """The same record with the answer let into its document: every check above would notice."""
    dirty = {
        **RECORD,
        "post_text": [f"the answer is {PLANTED} ."],
        "table": [*RECORD["table"], ["other", PLANTED, PLANTED]],
    }
    report = Report.from_dict(dirty)
    graph = build_report_graph(report, build_ontology([report]))
    assert leaks(report.table, report.sentences)
    assert leaks(*graph.graph)
    assert leaks(*(observation.path for observation in graph.observations))
    assert leaks(*prompts_of(report, ["what was other in 2009?"], build_ontology([report])))
