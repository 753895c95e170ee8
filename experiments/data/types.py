"""Schemas of growing graphs by name: the shipped ones, or a JSON file of types.

read_types("open")                # few general types, for questions about any subject
read_types("investments")         # the adviser's
read_types("ports.json")          # {"node_types": [{"name": "Port", ...}], "edge_types": [...]}
"""

from __future__ import annotations

from pathlib import Path

from experiments.console import SHIPPED_FOLDER, read_object
from kg.errors import DataError, SchemaError
from kg.growing import Schema
from kg.investments import investment_schema, types_of


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
