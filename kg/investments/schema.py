"""The types that a graph about investments begins with: eight kinds of nodes and eight kinds of edges.

>>> [kind.name for kind in investment_schema().node_types()]
['Asset', 'Company', 'Sector', 'AssetClass', 'Institution', 'MarketEvent', 'News', 'Insight']

They lie in ``investment_types.json`` beside this file. Prices and other time series are not among them: they stay
where they are, and a tool fetches them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from kg.growing import EdgeType, NodeType, Schema

_FILE = Path(__file__).with_name("types.json")


@cache
def investment_schema() -> Schema:
    """The seed types, made by the system, for every scope."""
    content: dict[str, list[dict[str, Any]]] = json.loads(_FILE.read_text(encoding="utf-8"))
    schema = Schema()
    for node in content["node_types"]:
        schema = schema.with_type(NodeType(created_by="system", **_as_tuples(node)))
    for edge in content["edge_types"]:
        schema = schema.with_type(EdgeType(created_by="system", **_as_tuples(edge)))
    return schema


def _as_tuples(content: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
