"""The types that a graph about investments begins with: eight kinds of nodes and eight kinds of edges.

>>> [kind.name for kind in investment_schema().node_types()]
['Asset', 'Company', 'Sector', 'AssetClass', 'Institution', 'MarketEvent', 'News', 'Insight']

They are stored in ``types.json`` in this folder, with the labels that the questions of the demonstration use. Prices
and other time series are not among them: tools fetch these from their source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kg.growing import CreatedBy, EdgeType, NodeType, Schema

_FILE = Path(__file__).with_name("types.json")


@cache
def investment_schema() -> Schema:
    """Returns the seed types, made by the system."""
    schema = Schema()
    for kind in types_of(json.loads(_FILE.read_text(encoding="utf-8")), "system"):
        schema = schema.with_type(kind)
    return schema


def types_of(content: Mapping[str, Any], created_by: CreatedBy) -> list[NodeType | EdgeType]:
    """Returns the types that JSON lists under ``node_types`` and ``edge_types``, in this order."""
    return [
        make(created_by=created_by, **_as_tuples(kind))
        for make, key in ((NodeType, "node_types"), (EdgeType, "edge_types"))
        for kind in content[key]
    ]


def _as_tuples(content: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
