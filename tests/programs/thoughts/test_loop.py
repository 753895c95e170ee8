"""The loop of thoughts with a scripted model: what it decides, what reaches the graph, and what it may not do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import dspy
import pytest

from experiments.readers import shipped_encoder
from kg.errors import ConfigError
from kg.growing import AddNode, GrowingGraph, Origin
from kg.investments import investment_schema
from kg.parsing import QuestionReader
from programs.thoughts import KnowledgeGraphOfThoughts, Thoughts, ThoughtsConfig
from programs.tools import ToolManager

QUESTION = "In which country is Helixon based?"
TODAY = date(2026, 11, 29)
ALONE = {"parts": json.dumps([QUESTION]), "rounding": "", "decimals": "-1", "total": "false"}
USA = {"answers": '["USA"]', "calculation": "", "sentences": "[2]", "sureness": "certain"}
NOTHING = {"answers": "[]", "calculation": "", "sentences": "[]", "sureness": "certain"}
ROW = {"sentence": 1, "subject": "Helixon", "subject_type": "Company", "relation": "country", "object": "USA"}
Script = Sequence[Mapping[str, str]]


def search(topic: str) -> str:
    """Searches the archive."""
    if topic == "nowhere":
        return "nothing found for 'nowhere'"
    return f"Helixon is a company that is based in the USA and makes {topic}."


def call(topic: str = "chips") -> dict[str, str]:
    return {"calls": json.dumps([{"tool": "search", "arguments": {"topic": topic}}])}


def rows(*stated: Mapping[str, object]) -> dict[str, str]:
    return {"rows": json.dumps(stated)}


@pytest.fixture
def graph() -> GrowingGraph:
    return GrowingGraph(None, investment_schema())


@pytest.fixture
def answer(scripted_lm: Callable[..., dspy.LM], graph: GrowingGraph) -> Callable[..., Thoughts]:
    """Answers with a model that gives these replies, all of which must be used."""

    def run(script: Script, question: str = QUESTION, **settings: Any) -> Thoughts:
        lm = scripted_lm(script)
        program = KnowledgeGraphOfThoughts(ToolManager([dspy.Tool(search)]), ThoughtsConfig(**settings))
        with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
            found: Thoughts = program(question=question, graph=graph, today=TODAY).thoughts
        assert not lm.engine.replies, "not all replies were asked for"
        return found

    return run


def test_an_empty_graph_is_filled_and_then_asked(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    found = answer([ALONE, call(), rows(ROW), USA])
    assert (found.answer, found.iterations, [made.tool for made in found.tool_calls]) == ("USA", 2, ["search"])
    assert [fact.sources for fact in found.facts] == [('search {"topic": "chips"}',)]
    [node] = graph.nodes()
    assert (node.properties["country"], node.sources) == ("USA", found.facts[0].sources)


def test_figures_of_several_things_are_added_where_one_sum_is_asked(answer: Callable[..., Thoughts]) -> None:
    sales = {"calls": json.dumps([{"tool": "search", "arguments": {"topic": "1,200 chips and 300 boards"}}])}
    two = {**USA, "answers": '["1,200 chips", "300 boards"]'}
    script = [{**ALONE, "total": "true"}, sales, rows(), two]
    assert answer(script, "How many parts does Helixon make?").answer == "1,500"


def test_a_question_for_two_facts_is_asked_in_parts(answer: Callable[..., Thoughts]) -> None:
    parts = {**ALONE, "parts": json.dumps(["In which country is Helixon based?", "What does Helixon make?"])}
    chips = {**USA, "answers": '["chips"]'}
    found = answer([parts, call(), rows(), USA, chips], "In which country is Helixon based, and what does it make?")
    assert (found.answer, len(found.parts)) == ("USA; chips", 2)


def test_figures_are_rounded_as_the_question_says(answer: Callable[..., Thoughts]) -> None:
    half = {"answers": "[]", "calculation": "7 / 2", "sentences": "[2]", "sureness": "certain"}
    for words, expected in (("", "3.5"), ("Round to whole chips", "4")):  # words that are copied must be there
        split = {**ALONE, "rounding": "Round to whole chips", "decimals": "0"}
        question = f"How many chips for each board? {words}"
        assert answer([split, call("7 chips and 2 boards"), rows(), half], question).answer == expected


def test_parts_that_the_question_does_not_name_are_no_parts(answer: Callable[..., Thoughts]) -> None:
    others = {**ALONE, "parts": json.dumps(["Which mill sold most flour?", "Who runs it?"])}
    assert answer([others, {"calls": "[]"}]).parts == (QUESTION,)


def test_rows_that_fit_no_type_or_no_sentence_are_left_out(answer: Callable[..., Thoughts]) -> None:
    odd = {**ROW, "relation": "colour"}
    false = {**ROW, "object": "Malta"}
    found = answer([ALONE, call(), rows(odd, false), USA])
    assert (found.answer, found.applied.nodes) == ("USA", 0)
    assert any("colour" in line for line in found.refused)
    assert any("'Malta' is not in the sentence" in line for line in found.refused)


def test_types_that_rows_need_are_proposed(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    kind = {
        "name": "Plant",
        "description": "A place where goods are made.",
        "properties_schema": {"type": "object", "properties": {"land": {"type": "string"}}},
        "example": {"land": "USA"},
        "justification": "Plants are no companies.",
    }
    proposal = {"calls": json.dumps([{"tool": "create_node_type", "arguments": kind}])}
    row = {**ROW, "subject_type": "Plant", "relation": "land"}
    found = answer([ALONE, call(), rows(row), proposal, USA], types="auto")
    assert found.proposed == (("Plant", "Plant is a type now"),)
    assert graph.schema.node_type("Plant").created_by == "agent"
    assert [node.properties["land"] for node in graph.nodes("Plant")] == ["USA"]
    with pytest.raises(ConfigError, match="policy must be one of"):
        answer([], types="always")


def test_tools_are_called_until_nothing_new_is_chosen(answer: Callable[..., Thoughts]) -> None:
    found = answer([ALONE, call("nowhere"), call("nowhere")])
    assert (found.answer, found.iterations) == (None, 2)
    assert "called with these arguments already" in found.why
    found = answer([ALONE, call(), rows(), NOTHING, {"calls": "[]"}])
    assert (found.answer, found.iterations) == (None, 2)


def test_the_question_never_enters_the_graph(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    answer([ALONE, call(), rows(ROW), USA])
    assert graph.facts()
    assert QUESTION not in str(list(graph.quads()))


def test_a_step_that_takes_too_long_is_given_up(graph: GrowingGraph) -> None:
    class Slow(dspy.Module):
        def forward(self, **inputs: Any) -> dspy.Prediction:
            time.sleep(30)
            return dspy.Prediction(parts=[], **inputs)

    program = KnowledgeGraphOfThoughts(ToolManager([]), ThoughtsConfig(patience=1))
    program.retrieve.split = Slow()
    program.retrieve.split.signature = dspy.Signature("question -> parts: list[str]")
    started = time.perf_counter()
    with dspy.context(lm=dspy.LM("openai/none", api_base="http://127.0.0.1:9/v1", api_key="none")):
        found = program(question=QUESTION, graph=graph, today=TODAY).thoughts
    assert time.perf_counter() - started < 10
    assert (found.answer, found.parts) == (None, (QUESTION,))
    assert "given up" in found.why


def reader_of(graph: Any) -> QuestionReader:
    return QuestionReader(graph, shipped_encoder().vectors)


def test_tables_are_asked_without_a_model(tmp_path: Path, graph: GrowingGraph) -> None:
    (tmp_path / "ports.csv").write_text('port,tonnes,insurer\nVarna,"1,200",Meridian Re\nBar,800,Halden Mutual\n')
    program = KnowledgeGraphOfThoughts(ToolManager([]), folder=tmp_path, reader_of=reader_of)
    found = program(question="What is the insurer of Varna?", graph=graph, today=TODAY).thoughts
    assert (found.answer, found.applied.nodes) == ("Meridian Re", 2)
    assert [(fact.statement, fact.sources) for fact in found.facts][:1] == [
        ("Varna -> insurer -> Meridian Re", ("ports.csv",))
    ]


def test_a_stored_graph_is_asked_without_tools(graph: GrowingGraph) -> None:
    graph.apply([AddNode("Company", "Helixon", {"country": "USA"})], Origin("wire.txt"))
    program = KnowledgeGraphOfThoughts(ToolManager([]), reader_of=reader_of)
    found = program(question="What is the country of Helixon?", graph=graph, today=TODAY).thoughts
    assert (found.answer, found.facts[0].sources) == ("USA", ("wire.txt",))
