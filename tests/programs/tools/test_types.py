"""An agent's tools for new types, called as an agent calls them: through the tool manager."""

from __future__ import annotations

from typing import Any

import dspy
import pytest

from kg.growing.graph import GrowingGraph, Origin
from kg.growing.proposals import TypePolicy, TypeProposals
from kg.growing.updates import AddNode
from kg.growing.view import entity_view
from kg.investments.schema import investment_schema
from programs.tools.manager import ToolManager
from programs.tools.types import edge_type_tool, node_type_tool

NODE: dict[str, Any] = {
    "name": "Regulation",
    "description": "A standing rule that restricts what market participants may do.",
    "properties_schema": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
    "example": {"name": "Rule 7"},
    "justification": "Rules last, events happen once.",
}
EDGE: dict[str, Any] = {
    "name": "made_by",
    "description": "A rule was made by an authority.",
    "source_types": ["Regulation"],
    "target_types": ["Institution"],
    "justification": "No edge leads from a rule to its author.",
}


def tools_of(graph: GrowingGraph, policy: TypePolicy) -> ToolManager:
    proposals = TypeProposals(graph, policy)
    return ToolManager([dspy.Tool(node_type_tool(proposals)), dspy.Tool(edge_type_tool(proposals))])


def test_types_are_created_and_hold() -> None:
    graph = GrowingGraph(None, investment_schema())
    tools = tools_of(graph, "auto")
    assert tools.call("create_node_type", NODE).output == "Regulation is a type now"
    assert tools.call("create_edge_type", EDGE).output == "made_by is a type now"
    assert graph.schema.edge_type("made_by").target_types == ("Institution",)
    assert graph.schema.node_type("Regulation").created_by == "agent"


def test_types_carry_the_words_of_their_proposal() -> None:
    graph = GrowingGraph(None, investment_schema())
    tools = tools_of(graph, "auto")
    tools.call("create_node_type", {**NODE, "labels": ["rule", "directive"]})
    tools.call("create_edge_type", {**EDGE, "labels": ["author"], "inverse_labels": ["made", "wrote"]})
    assert graph.schema.node_type("Regulation").labels == ("rule", "directive")
    edge = graph.schema.edge_type("made_by")
    assert (edge.labels, edge.inverse_labels) == (("author",), ("made", "wrote"))
    graph.apply([AddNode("Regulation", "Rule 7")], Origin("gazette"))
    tag = next(tag for tag in entity_view(graph).lexicon.tags("the directive") if tag.classes)
    assert tag.text == "directive"


def test_types_that_wait_may_build_on_each_other() -> None:
    graph = GrowingGraph(None, investment_schema())
    tools = tools_of(graph, "review")
    assert "is pending" in tools.call("create_node_type", NODE).output
    assert "is pending" in tools.call("create_edge_type", EDGE).output
    assert [kind.name for kind in graph.proposed.types] == ["Regulation", "made_by"]
    assert len(graph.schema.types) == 16


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Company"}, "is taken"),
        ({"name": "MarketEvents"}, "use 'MarketEvent'"),
        ({"name": "regulation"}, "PascalCase"),
        ({"justification": " "}, "needs a justification"),
        ({"properties_schema": {"type": "strange"}}, "must describe an object"),
        ({"example": {}}, "'name' is a required property"),
    ],
)
def test_what_is_refused_is_said_to_the_agent(change: dict[str, Any], message: str) -> None:
    graph = GrowingGraph(None, investment_schema())
    made = tools_of(graph, "auto").call("create_node_type", {**NODE, **change})
    assert made.failed
    assert message in made.output
    assert len(graph.schema.types) == 16
