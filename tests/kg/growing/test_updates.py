"""Updates as a language model writes them: JSON that becomes typed operations, or an error that says what is wrong."""

from __future__ import annotations

import json

import pytest

from kg.errors import SchemaError
from kg.growing.updates import AddEdge, AddNode, NodeKey, SetProperty, parse_update


def test_all_three_operations_are_read() -> None:
    text = """[{"op": "AddNode", "type": "Sector", "name": "Shipping", "properties": {"trend": "bullish"}},
        {"op": "AddEdge", "type": "in_sector", "source": {"type": "Company", "name": "A"},
         "target": {"type": "Sector", "name": "Shipping"}},
        {"op": "SetProperty", "node": {"type": "Company", "name": "A"}, "property": "country", "value": null}]"""
    company, sector = NodeKey("Company", "A"), NodeKey("Sector", "Shipping")
    assert tuple(map(parse_update, json.loads(text))) == (
        AddNode("Sector", "Shipping", {"trend": "bullish"}),
        AddEdge("in_sector", company, sector),
        SetProperty(company, "country", None),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"AddNode"', "update 0: op must be one of AddNode, AddEdge, SetProperty, got None"),
        ('{"op": "Exec", "code": "1"}', "update 0: op must be one of AddNode, AddEdge, SetProperty, got 'Exec'"),
        ('{"op": [], "type": "A"}', "op must be one of"),
        ('{"op": "AddNode", "type": "A", "name": "\\ud800"}', "cannot be stored"),
        ('{"op": "AddNode", "type": "A"}', "name is missing"),
        ('{"op": "AddNode", "type": "A", "name": "b", "code": "1"}', "code is no field"),
        ('{"op": "AddNode", "type": "A", "name": 4}', "name has the wrong type, int"),
        ('{"op": "AddEdge", "type": "a", "source": {"type": "A"}, "target": {}}', "source must be an object with"),
    ],
)
def test_what_is_no_operation_is_refused(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        parse_update(json.loads(text))
