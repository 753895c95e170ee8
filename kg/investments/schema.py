"""The types that a graph about investments begins with: eight kinds of nodes and eight kinds of edges.

>>> [kind.name for kind in investment_schema().node_types()]
['Asset', 'Company', 'Sector', 'AssetClass', 'Institution', 'MarketEvent', 'News', 'Insight']

They are stored in ``types.json`` in this folder, with the labels that the questions of the demonstration use. Prices
and other time series are not among them: tools fetch these from their source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from kg.growing import VALUE_LABELS, CreatedBy, EdgeType, NodeType, Schema

_FILE = Path(__file__).with_name("types.json")


@cache
def investment_schema() -> Schema:
    """Returns the seed types, made by the system, for every scope."""
    schema = Schema()
    for kind in types_of(json.loads(_FILE.read_text(encoding="utf-8")), "system"):
        schema = schema.with_type(kind)
    return schema


def completed_schema(schema: Schema, shipped: Sequence[NodeType | EdgeType]) -> Schema:
    """Returns a schema with shipped types that it lacks, and with shipped properties and values that its types lack.

    A graph of an earlier version thus takes what this version writes; what a person added to a type stays.

    Args:
        schema: The schema of a graph.
        shipped: The types that this version writes.
    """
    known = {kind.name: kind for kind in schema.types}
    for kind in shipped:
        if kind.name not in known:
            schema = schema.with_type(kind)
            continue
        old = known[kind.name]
        properties = _completed(old.properties_schema.get("properties", {}), kind.properties_schema["properties"])
        if properties != old.properties_schema.get("properties", {}):
            schema = schema.with_version(
                replace(old, properties_schema={**old.properties_schema, "properties": properties})
            )
    return schema


def _completed(own: Mapping[str, Any], shipped: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the rules of properties with the shipped ones that are missing.

    The others get the missing values of their enum, and the labels of values if they have none.
    """
    found = {**own}
    for name, rule in shipped.items():
        if name not in own:
            found[name] = rule
        elif isinstance(own[name], Mapping) and "enum" in own[name] and "enum" in rule:
            further = [value for value in rule["enum"] if value not in own[name]["enum"]]
            labels = {VALUE_LABELS: rule[VALUE_LABELS]} if VALUE_LABELS in rule else {}
            found[name] = {**labels, **own[name], "enum": [*own[name]["enum"], *further]}
    return found


def types_of(content: Mapping[str, Any], created_by: CreatedBy) -> list[NodeType | EdgeType]:
    """Returns the types that JSON lists under ``node_types`` and ``edge_types``, in this order."""
    return [
        make(created_by=created_by, **_as_tuples(kind))
        for make, key in ((NodeType, "node_types"), (EdgeType, "edge_types"))
        for kind in content[key]
    ]


def _as_tuples(content: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
