"""Schemas of growing graphs by name: the shipped ones, or a JSON file of types.

read_types("open")                # few general types, for questions about any subject
read_types("investments")         # the adviser's
read_types("ports.json")          # {"node_types": [{"name": "Port", ...}], "edge_types": [...]}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.console import SHIPPED_FOLDER, read_object
from kg.errors import DataError, SchemaError
from kg.growing import EdgeType, Schema
from kg.investments import investment_schema, types_of

if TYPE_CHECKING:
    from kg.growing import GrowingGraph, NodeType


def read_types(name: str) -> Schema:
    """Returns the schema of a name or a file.

    Raises:
        DataError: The file cannot be read, or its types are not well-formed.
    """
    if name == "investments":
        return investment_schema()
    path = SHIPPED_FOLDER / "types" / "open.json" if name == "open" else Path(name)
    content = {"edge_types": [], **read_object(path, "node_types and edge_types")}
    schema = Schema()
    try:
        for kind in types_of(content, "system" if name == "open" else "user"):
            schema = schema.with_type(kind)
    except (SchemaError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"must list well-formed types under node_types and edge_types: {error}", file=name) from error
    if not schema.types:
        raise DataError("lists no type under node_types", file=name)
    return schema


def use_types(graph: GrowingGraph, file: str) -> int:
    """Gives a graph the types of a file; returns how many are new or changed.

    Types that waited under one of these names wait no more.

    Raises:
        SchemaError: A stored node or edge does not fit its changed type.
    """
    wanted, schema = read_types(file).types, graph.schema
    known = {kind.name: kind for kind in schema.types}
    for kind in wanted:
        current = known.get(kind.name)
        if current is None:
            schema = schema.with_type(kind)
        elif replace(kind, created_by=current.created_by, justification=current.justification) != current:
            schema = schema.with_changed(kind)
    names = {kind.name for kind in wanted}
    graph.change_schema(schema, Schema(tuple(kind for kind in graph.proposed.types if kind.name not in names)))
    return sum(known.get(kind.name) != kind for kind in schema.types)


def types_as_json(kinds: Iterable[NodeType | EdgeType]) -> dict[str, list[dict[str, Any]]]:
    """Types as `finpath ingest --types FILE` reads them."""
    rows: dict[str, list[dict[str, Any]]] = {"node_types": [], "edge_types": []}
    for kind in kinds:
        content = {name: value for name, value in asdict(kind).items() if name != "created_by"}
        rows["edge_types" if isinstance(kind, EdgeType) else "node_types"].append(content)
    return rows
