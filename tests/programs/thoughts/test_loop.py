"""The loop of thoughts with a scripted model: what it decides, what reaches the graph, and what it may not do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dspy
import pytest
from dspy.utils.callback import BaseCallback

from kg.errors import ConfigError
from kg.growing import AddNode
from kg.growing.graph import GrowingGraph, Origin
from kg.investments.schema import investment_schema
from programs.thoughts.loop import KnowledgeGraphOfThoughts
from programs.thoughts.work import Thoughts, ThoughtsConfig
from programs.tools.manager import ToolManager

QUESTION = "in which country is Helixon based?"
INSERT = {"next_step": "insert", "missing": "the country of Helixon"}
RETRIEVE = {"next_step": "retrieve", "missing": ""}
COMPANY = [{"op": "AddNode", "type": "Company", "name": "Helixon", "properties": {"country": "USA"}}]
QUERY = 'SELECT ?country WHERE { ?c a type:Company ; rdfs:label "Helixon" ; prop:country ?country }'
Script = Sequence[Mapping[str, str]]


def search(topic: str) -> str:
    """Searches the archive."""
    if topic == "nowhere":
        return "nothing found for 'nowhere'"
    return f"Helixon, a company in the USA, says about {topic}: nothing."


def call(topic: str = "Helixon") -> dict[str, str]:
    return {"calls": json.dumps([{"tool": "search", "arguments": {"topic": topic}}])}


def updates(operations: object) -> dict[str, str]:
    return {"updates": json.dumps(operations)}


class Prompts(BaseCallback):
    """Keeps what a language model is shown."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.texts.append(str(inputs.get("messages") or inputs.get("prompt") or inputs))


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
            found: Thoughts = program(question=question, graph=graph).thoughts
        assert not lm.engine.replies, "not all replies were asked for"
        return found

    return run


def test_an_empty_graph_is_filled_and_then_asked(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    script = [call(), updates(COMPANY), RETRIEVE, {"query": QUERY}, {"answer": "USA"}]
    found = answer(script)
    assert (found.answer, found.iterations, found.forced, found.grounded) == ("USA", 2, False, True)
    assert found.retrieved is not None
    assert found.retrieved.rows == (("USA",),)
    assert (found.applied.nodes, [made.tool for made in found.tool_calls]) == (1, ["search"])
    assert [node.sources for node in graph.nodes()] == [('search {"topic": "Helixon"}',)]


def test_a_graph_that_holds_enough_calls_no_tool(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    graph.apply([AddNode("Company", "Helixon", {"country": "USA"})], Origin("wire"))
    found = answer([RETRIEVE, {"query": f"```sparql\n{QUERY}\n```"}, {"answer": "USA"}])
    assert (found.answer, found.iterations, found.tool_calls) == ("USA", 1, ())


def test_updates_that_break_the_schema_are_written_again(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    wrong = [{"op": "AddNode", "type": "Company", "name": "Helixon", "properties": {"country": 7}}]
    script = [call(), updates(wrong), updates(COMPANY), RETRIEVE, {"query": QUERY}]
    found = answer([*script, {"answer": "USA"}])
    assert found.repairs == {"update": 1}
    assert "7 is not of type 'string'" in found.refused[0]
    assert len(list(graph.nodes())) == 1


def test_repairs_are_bounded_and_the_end_is_forced(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    bad = updates([{"op": "AddNode", "type": "Company", "name": " "}])
    script = [call(), bad, bad, {"query": "SELECT nonsense"}, {"query": "DROP ALL"}]
    found = answer(script, max_iterations=1, repairs=1)
    assert (found.answer, found.forced, found.repairs) == (None, True, {"update": 1, "query": 1})
    assert graph.facts() == 0


def test_new_types_can_be_proposed_where_the_settings_allow_it(
    answer: Callable[..., Thoughts], graph: GrowingGraph
) -> None:
    kind = {
        "name": "Country",
        "description": "A state in which companies are based.",
        "properties_schema": {"type": "object", "properties": {"name": {"type": "string"}}},
        "example": {"name": "USA"},
        "justification": "Companies share countries.",
    }
    proposal = {"calls": json.dumps([{"tool": "create_node_type", "arguments": kind}])}
    node = [{"op": "AddNode", "type": "Country", "name": "USA", "properties": {"name": "USA"}}]
    query = "SELECT ?name WHERE { ?c a type:Country ; rdfs:label ?name }"
    script = [call(), proposal, updates(node), RETRIEVE, {"query": query}, {"answer": "USA"}]
    found = answer(script, types="auto")
    assert found.proposed == (("Country", "Country is a type now"),)
    assert (found.answer, found.refused) == ("USA", ())
    assert graph.schema.node_type("Country").created_by == "agent"
    with pytest.raises(ConfigError, match="policy must be one of"):
        answer([], types="always")


def test_the_answer_names_the_facts_that_it_rests_on(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    graph.apply([AddNode("Company", "Acme", {"country": "Malta"})], Origin("other"))
    explained = {"sentence": "Helixon is a company in the USA."}
    found = answer(
        [INSERT, call(), updates(COMPANY), RETRIEVE, {"query": QUERY}, {"answer": "USA"}, explained], explain=True
    )
    assert [fact.statement for fact in found.facts] == ["Helixon: country USA"]
    assert found.facts[0].sources == ('search {"topic": "Helixon"}',)
    assert found.facts[0].passage == "Helixon, a company in the USA, says about Helixon: nothing."
    assert found.explanation == "Helixon is a company in the USA."


def test_an_explanation_that_says_more_than_the_facts_is_dropped(
    answer: Callable[..., Thoughts], graph: GrowingGraph
) -> None:
    graph.apply([AddNode("Company", "Helixon", {"country": "USA"})], Origin("wire"))
    more = {"sentence": "Helixon moved to the USA in 1994."}
    found = answer([RETRIEVE, {"query": QUERY}, {"answer": "USA"}, more], explain=True)
    assert (found.answer, found.explanation) == ("USA", "")


def test_arithmetic_is_exact_and_uses_retrieved_figures_alone(
    answer: Callable[..., Thoughts], graph: GrowingGraph
) -> None:
    event = {"type": "earnings", "summary": "Revenue", "occurred_at": "2026-10-22", "value": "412"}
    graph.apply(
        [AddNode("MarketEvent", "Q3", event), AddNode("MarketEvent", "Q2", {**event, "value": "365"})], Origin("w")
    )
    query = "SELECT ?v WHERE { ?e a type:MarketEvent ; prop:value ?v } ORDER BY ?v"
    script = [RETRIEVE, {"query": query}, {"calculation": "subtract(999, 365)"}]
    found = answer(
        [*script, {"calculation": "subtract(412, 365)"}, {"answer": "It rose by 47."}], "how much did it rise?"
    )
    assert (found.calculation, found.answer, found.grounded) == ("subtract(412, 365)", "It rose by 47.", True)
    assert found.repairs == {"calculation": 1}


def test_a_figure_that_was_not_retrieved_is_noticed(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    graph.apply([AddNode("Company", "Helixon", {"country": "USA"})], Origin("wire"))
    found = answer([RETRIEVE, {"query": QUERY}, {"answer": "USA, since 1994"}])
    assert not found.grounded


def test_the_question_never_enters_the_graph(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    answer([call("weather"), updates(COMPANY), RETRIEVE, {"query": QUERY}, {"answer": "USA"}])
    rows = graph.query("SELECT ?s ?p ?o WHERE { ?s ?p ?o }").rows
    assert rows
    assert not any(QUESTION in str(value) for row in rows for value in row)


def without_tools(scripted_lm: Callable[..., dspy.LM], graph: GrowingGraph, script: Script) -> Thoughts:
    lm = scripted_lm(script)
    program = KnowledgeGraphOfThoughts(ToolManager([]), ThoughtsConfig(repairs=2))
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        found: Thoughts = program(question=QUESTION, graph=graph).thoughts
    assert not lm.engine.replies
    return found


def test_without_tools_an_empty_graph_is_not_asked(scripted_lm: Callable[..., dspy.LM], graph: GrowingGraph) -> None:
    found = without_tools(scripted_lm, graph, [])
    assert (found.answer, found.forced, found.iterations) == (None, True, 1)


def test_without_tools_a_query_that_finds_nothing_is_written_again(
    scripted_lm: Callable[..., dspy.LM], graph: GrowingGraph
) -> None:
    graph.apply([AddNode("Company", "Helixon", {"country": "USA"})], Origin("wire"))
    missed = QUERY.replace("Helixon", "Helix")
    found = without_tools(scripted_lm, graph, [{"query": missed}, {"query": QUERY}, {"answer": "USA"}])
    assert (found.answer, found.query, found.grounded) == ("USA", QUERY, True)
    assert found.repairs == {"query": 1}


def test_a_query_written_again_as_it_was_is_not_asked_again(
    scripted_lm: Callable[..., dspy.LM], graph: GrowingGraph
) -> None:
    graph.apply([AddNode("Company", "Helixon", {"country": "USA"})], Origin("wire"))
    found = without_tools(scripted_lm, graph, [{"query": "SELECT nonsense"}] * 3)
    assert (found.answer, found.forced, found.repairs) == (None, True, {"query": 2})
    assert len(found.refused) == 1, "the second and third query are the first"


def test_a_query_that_finds_nothing_leads_to_an_insert(answer: Callable[..., Thoughts], graph: GrowingGraph) -> None:
    graph.apply([AddNode("Sector", "Chips")], Origin("wire"))
    script = [RETRIEVE, {"query": QUERY}, call(), updates(COMPANY), RETRIEVE, {"query": QUERY}]
    found = answer([*script, {"answer": "USA"}])
    assert (found.answer, found.iterations) == ("USA", 3)


def test_a_list_of_files_is_no_fact_and_the_tools_are_chosen_again(
    scripted_lm: Callable[..., dspy.LM], graph: GrowingGraph
) -> None:
    def list_documents() -> str:
        """Lists the files."""
        return "wire.txt (12 bytes) " * 20

    listing = {"calls": json.dumps([{"tool": "list_documents", "arguments": {}}])}
    lm = scripted_lm([listing, call(), updates(COMPANY), RETRIEVE, {"query": QUERY}, {"answer": "USA"}])
    tools = ToolManager([dspy.Tool(search), dspy.Tool(list_documents)])
    heard = Prompts()
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False), callbacks=[heard]):
        found = KnowledgeGraphOfThoughts(tools, ThoughtsConfig())(question=QUESTION, graph=graph).thoughts
    assert (found.answer, found.iterations) == ("USA", 2)
    assert " ".join(["wire.txt (12 bytes)"] * 20) in heard.texts[1]
