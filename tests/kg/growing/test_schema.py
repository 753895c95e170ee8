"""The evolvable schema: what a type must be, what a node may have, and changed types."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.readers import shipped_meaning
from kg.errors import SchemaError
from kg.growing import AddNode, GrowingGraph, NodeType, Origin, Schema, TypeProposals
from kg.growing.proposals import TypePolicy
from kg.investments.schema import investment_schema

REGULATION = NodeType(
    "Regulation",
    "A standing rule of law that restricts what market participants may do.",
    {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "effective": {"type": "string", "format": "date"}},
    },
    {"name": "Directive 12", "effective": "2024-01-01"},
    "agent",
    justification="Rules last, events happen once.",
)


DEEP: dict[str, object] = {"type": "array"}
for _ in range(6):
    DEEP = {"items": DEEP}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "regulation"}, "PascalCase"),
        ({"justification": ""}, "needs a justification"),
        ({"properties_schema": {"type": "array"}}, "'object' was expected"),
        ({"properties_schema": {"type": "object", "properties": {"name": {"type": "strin"}}}}, "not valid"),
        (
            {"properties_schema": {"type": "object", "properties": {"n": {"$ref": "http://x/y"}}}},
            r"'\$ref' was unexpected",
        ),
        ({"properties_schema": {"type": "object", "properties": {"a b": {}}}}, "'a b' does not match"),
        ({"properties_schema": {"type": "object", "properties": {"name": True}}}, "name: True is not of type 'object'"),
        ({"properties_schema": {"type": "object", "if": {}}}, "'if' was unexpected"),
        (
            {"properties_schema": {"type": "object", "properties": {"n": {"pattern": "^a$"}}}},
            "'pattern' was unexpected",
        ),
        ({"properties_schema": {"type": "object", "properties": {"n": {"title": "\ud800"}}}}, "is not JSON"),
        (
            {"properties_schema": {"type": "object", "properties": {"n": {"x-labels": [" "]}}}},
            "' ' does not",
        ),
        ({"labels": ("x" * 61,)}, "labels.0: .* is too long"),
        ({"properties_schema": {"type": "object", "properties": {"n": DEEP}}}, "rules deep"),
        ({"example": {"effective": "2024-01-01"}}, "'name' is a required property"),
        ({"example": {"name": "x", "colour": "red"}}, "not a property of the type"),
        ({"example": {"name": "x" * 9000}}, "longer than"),
    ],
)
def test_a_type_that_breaks_a_rule_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        investment_schema().with_type(replace(REGULATION, **change))  # type: ignore[arg-type]


def test_a_new_type_holds_from_then_on() -> None:
    before = investment_schema()
    schema = before.with_type(REGULATION)
    schema.check_node("Regulation", {"name": "Rule 7"})
    with pytest.raises(SchemaError, match="there is no node type 'Regulation'"):
        before.check_node("Regulation", {"name": "Rule 7"})
    with pytest.raises(SchemaError, match="is taken"):
        schema.with_type(REGULATION)


def test_edges_join_only_the_types_they_may() -> None:
    schema = investment_schema()
    schema.check_edge("affects", "MarketEvent", "Company", {"magnitude": 1})
    schema.check_edge("mentions", "News", "Sector")
    with pytest.raises(SchemaError, match="not from Company to MarketEvent"):
        schema.check_edge("affects", "Company", "MarketEvent")
    with pytest.raises(SchemaError, match="greater than the maximum"):
        schema.check_edge("affects", "MarketEvent", "Company", {"magnitude": 2})
    with pytest.raises(SchemaError, match="there is no edge type"):
        schema.check_edge("owns", "Company", "Company")


def test_all_broken_rules_are_said_at_once() -> None:
    with pytest.raises(SchemaError, match=r"'name' is a required property; .*nam: not a property.*nearest are: name"):
        Schema((replace(REGULATION, created_by="user"),)).check_node("Regulation", {"nam": "x"})


PLAIN = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}


def kind(name: str, description: str, *labels: str) -> NodeType:
    return NodeType(name, description, PLAIN, {"name": "x"}, "agent", justification="needed", labels=labels)


@pytest.fixture
def graph() -> GrowingGraph:
    made = GrowingGraph(None)
    schema = made.schema.with_type(kind("Physician", "Someone who treats the sick.", "medic"))
    made.change_schema(schema.with_type(kind("Ship", "A large boat that sails at sea.")))
    return made


def proposals(graph: GrowingGraph, policy: TypePolicy = "auto") -> TypeProposals:
    return TypeProposals(graph, policy, shipped_meaning())


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (kind("Physicians", "Persons with a licence."), "says what 'Physician' says already"),
        (kind("Medic", "Staff of an ambulance."), "says what 'Physician' says already"),
        (kind("Healer", "Staff of an ambulance.", "physician"), "says what 'Physician' says already"),
        (kind("Vessel", "A craft that carries goods over water."), "seems to mean the same as 'Ship'"),
    ],
)
def test_a_type_that_repeats_another_is_refused(graph: GrowingGraph, new: NodeType, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason):
        proposals(graph).propose(new)


def test_a_proposal_may_insist_that_it_differs_in_meaning_but_not_in_name(graph: GrowingGraph) -> None:
    vessel = kind("Vessel", "A craft that carries goods over water.")
    assert proposals(graph).propose(vessel, ["Ship"]) == "accepted"
    with pytest.raises(SchemaError, match="says already"):
        proposals(graph).propose(kind("Ships", "Boats."), ["Ship"])


def test_a_proposed_type_waits_for_review(graph: GrowingGraph) -> None:
    own = TypeProposals(graph, "review")
    regulation = kind("Regulation", "A standing rule that restricts what market participants may do.")
    assert own.propose(regulation) == "pending"
    with pytest.raises(SchemaError, match="there is no node type"):
        graph.apply([AddNode("Regulation", "Rule 7")], Origin("wire.txt"))
    with pytest.raises(SchemaError, match="use 'Regulation'"):
        own.propose(replace(regulation, name="Regulations"))
    assert [one.name for one in own.pending()] == ["Regulation"]
