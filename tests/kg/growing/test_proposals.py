"""Proposals of types: redundancy by name, label and meaning, insisting, and further properties as a next version."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.saved import shipped_meaning
from kg.errors import SchemaError
from kg.growing import AddNode, GrowingGraph, NodeType, Origin, TypeProposals
from kg.growing.proposals import TypePolicy

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


def test_a_type_that_requires_a_number_is_none_that_has_no_number(graph: GrowingGraph) -> None:
    rules = {"name": {"type": "string"}, "value": {"type": "number"}}
    counted = {"type": "object", "required": ["name", "value"], "properties": rules}
    figure = NodeType("Figure", "A number that a source states.", counted, {"name": "x", "value": 1})
    graph.change_schema(graph.schema.with_type(figure))
    assert proposals(graph).propose(kind("Person", "A human being who is named in a source.")) == "accepted"


def test_further_properties_make_the_next_version(graph: GrowingGraph) -> None:
    tonnage = {"tonnage": {"type": "number"}}
    with pytest.raises(SchemaError, match="has name already"):
        proposals(graph).extend("Ship", {"name": {"type": "string"}}, "why")
    assert proposals(graph, "review").extend("Ship", tonnage, "freight is weighed") == "pending"
    assert graph.schema.node_type("Ship").version == 1
    with pytest.raises(SchemaError, match="waits for review"):
        proposals(graph, "review").extend("Ship", tonnage, "again")
    assert [(kind.version, kind.properties) for kind in proposals(graph).pending()] == [(2, ("name", "tonnage"))]
