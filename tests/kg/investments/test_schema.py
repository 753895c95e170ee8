"""The shipped types, and graphs of earlier versions of them."""

from __future__ import annotations

from dataclasses import replace

from kg.growing import VALUE_LABELS, EdgeType, Schema
from kg.investments import completed_schema, investment_schema


def test_a_graph_of_an_earlier_version_gets_values_and_their_labels_and_keeps_its_own() -> None:
    shipped = investment_schema().edge_type("affects")
    rule = {"type": "string", "enum": ["negative", "own"], "description": "mine"}
    earlier = replace(shipped, properties_schema={"type": "object", "properties": {"direction": rule}})
    others = (kind for kind in investment_schema().types if kind.name != "affects")
    schema = completed_schema(Schema((*others, earlier)), [shipped])
    found = schema.edge_type("affects")
    assert isinstance(found, EdgeType)
    direction = found.properties_schema["properties"]["direction"]
    assert direction["enum"] == ["negative", "own", "positive", "neutral"]
    assert direction["description"] == "mine"
    assert "bad" in direction[VALUE_LABELS]["negative"]
    assert "magnitude" in found.properties_schema["properties"]
    assert found.version == 2
    assert completed_schema(schema, [shipped]) == schema
