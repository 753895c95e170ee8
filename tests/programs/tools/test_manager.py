"""Tools by name: what they take, what they return, and that no call raises."""

from __future__ import annotations

from typing import Any

import dspy
import pytest

from kg.errors import ConfigError
from kg.growing import GrowingGraph, TypePolicy, TypeProposals
from kg.investments.schema import investment_schema
from programs.tools import ToolSettings, load_tools
from programs.tools.manager import ToolManager


def look_up(name: str, year: int = 2026) -> str:
    """Looks a company up."""
    if name == "nobody":
        raise KeyError("no such company")
    return f"{name} {year}"


def test_a_tool_answers_and_is_described() -> None:
    tools = ToolManager([dspy.Tool(look_up)])
    made = tools.call("look_up", {"name": "Helixon"})
    assert (made.output, made.failed) == ("Helixon 2026", False)
    assert tools.described() == "look_up(name: string, year: integer): Looks a company up."


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("look_upp", {}, "the nearest are: look_up"),
        ("look_up", {"name": "nobody"}, "KeyError: 'no such company'"),
        ("look_up", {}, "missing 1 required"),
        ("look_up", {"name": "x", "colour": "red"}, "colour"),
        ("look_up", {"name": ["x"]}, "name"),
    ],
)
def test_what_goes_wrong_becomes_text(tool: str, arguments: dict[str, object], message: str) -> None:
    made = ToolManager([dspy.Tool(look_up)]).call(tool, arguments)
    assert made.failed
    assert message in made.output


def test_a_long_output_is_cut_and_it_is_said() -> None:
    made = ToolManager([dspy.Tool(look_up)]).call("look_up", {"name": "x" * 30_000})
    assert made.output == "x" * 20_000 + "\n[cut: 30005 characters in all]"


def test_tools_are_loaded_by_name() -> None:
    assert load_tools(["visit_page"], ToolSettings()).names == ("visit_page",)
    with pytest.raises(ConfigError, match="there is no tool 'visit'; the nearest are: visit_page"):
        load_tools(["visit"], ToolSettings())
    with pytest.raises(ConfigError, match="different names"):
        ToolManager([dspy.Tool(look_up), dspy.Tool(look_up)])


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
    return load_tools(["create_node_type", "create_edge_type"], ToolSettings(types=TypeProposals(graph, policy)))


def test_types_are_created_and_hold() -> None:
    graph = GrowingGraph(None, investment_schema())
    tools = tools_of(graph, "auto")
    assert tools.call("create_node_type", {**NODE, "labels": ["rule"]}).output == "Regulation is a type now"
    assert graph.schema.node_type("Regulation").labels == ("rule",)
    assert tools.call("create_edge_type", EDGE).output == "made_by is a type now"
    assert graph.schema.edge_type("made_by").target_types == ("Institution",)
    assert graph.schema.node_type("Regulation").created_by == "agent"


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
        ({"name": "MarketEvents"}, "use 'MarketEvent'"),
        ({"example": {}}, "'name' is a required property"),
    ],
)
def test_what_is_refused_is_said_to_the_agent(change: dict[str, Any], message: str) -> None:
    graph = GrowingGraph(None, investment_schema())
    made = tools_of(graph, "auto").call("create_node_type", {**NODE, **change})
    assert made.failed
    assert message in made.output
    assert len(graph.schema.types) == 16
