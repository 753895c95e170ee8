"""Proposals of types: redundancy by name, label and meaning, insisting, and further properties as a next version."""

from __future__ import annotations

import pytest

from experiments.saved import shipped_meaning
from kg.errors import SchemaError
from kg.growing import EdgeType, GrowingGraph, NodeType, TypeProposals
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
        (kind("Doctor", "A person licensed to practise medicine."), "seems to mean the same as 'Physician'"),
        (kind("Vessel", "A craft that carries goods over water."), "seems to mean the same as 'Ship'"),
    ],
)
def test_a_type_that_repeats_another_is_refused(graph: GrowingGraph, new: NodeType, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason):
        proposals(graph).propose(new)


@pytest.mark.parametrize(
    "new", [kind("Hospital", "A building where the sick are treated."), kind("Harbour", "A place where ships lie.")]
)
def test_a_type_that_only_belongs_to_the_same_subject_is_accepted(graph: GrowingGraph, new: NodeType) -> None:
    assert proposals(graph).propose(new) == "accepted"


def test_a_proposal_may_insist_that_it_differs_in_meaning_but_not_in_name(graph: GrowingGraph) -> None:
    vessel = kind("Vessel", "A craft that carries goods over water.")
    assert proposals(graph).propose(vessel, ["Ship"]) == "accepted"
    with pytest.raises(SchemaError, match="says already"):
        proposals(graph).propose(kind("Ships", "Boats."), ["Ship"])


def test_a_waiting_type_is_not_repeated_either(graph: GrowingGraph) -> None:
    waiting = proposals(graph, "review")
    assert waiting.propose(kind("Lawyer", "Somebody who gives legal advice and pleads in court.")) == "pending"
    with pytest.raises(SchemaError, match="seems to mean the same as 'Lawyer'"):
        waiting.propose(kind("Attorney", "A person who acts for others at court."))


def test_a_type_that_requires_a_number_is_none_that_has_no_number(graph: GrowingGraph) -> None:
    rules = {"name": {"type": "string"}, "value": {"type": "number"}}
    counted = {"type": "object", "required": ["name", "value"], "properties": rules}
    figure = NodeType("Figure", "A number that a source states.", counted, {"name": "x", "value": 1})
    graph.change_schema(graph.schema.with_type(figure))
    assert proposals(graph).propose(kind("Person", "A human being who is named in a source.")) == "accepted"


def test_edges_between_other_types_do_not_repeat_each_other(graph: GrowingGraph) -> None:
    def edge(name: str, source: str, target: str) -> EdgeType:
        plain = {"type": "object", "properties": {}}
        text = "The first employs the second for pay."
        ends = {"source_types": (source,), "target_types": (target,)}
        return EdgeType(name, text, plain, {}, "agent", justification="needed", **ends)

    checked = proposals(graph)
    assert checked.propose(edge("hires", "Ship", "Physician")) == "accepted"
    with pytest.raises(SchemaError, match=r"says already|seems to mean"):
        checked.propose(edge("employs", "Ship", "Physician"))


def test_further_properties_make_the_next_version(graph: GrowingGraph) -> None:
    tonnage = {"tonnage": {"type": "number"}}
    with pytest.raises(SchemaError, match="has name already"):
        proposals(graph).extend("Ship", {"name": {"type": "string"}}, "why")
    assert proposals(graph, "review").extend("Ship", tonnage, "freight is weighed") == "pending"
    assert graph.schema.node_type("Ship").version == 1
    with pytest.raises(SchemaError, match="waits for review"):
        proposals(graph, "review").extend("Ship", tonnage, "again")
    proposals(graph).accept("Ship")
    assert (graph.schema.node_type("Ship").version, graph.schema.node_type("Ship").properties) == (
        2,
        ("name", "tonnage"),
    )
    assert proposals(graph).pending() == ()
