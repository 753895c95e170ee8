"""Updates of a growing graph: three typed operations, checked before they are applied.

    [AddNode("Company", "Helixon Inc.", {"country": "USA"}),
     AddNode("Asset", "HLXN", {"type": "stock"}),
     AddEdge("issued_by", NodeKey("Asset", "HLXN"), NodeKey("Company", "Helixon Inc."))]

A node is known by its type and its name; the name is also the value of the first property that the type requires,
where that is a text. A language model writes the operations as JSON, which :func:`parse_update` reads; nothing of
what it writes is ever run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kg.errors import SchemaError


@dataclass(frozen=True)
class NodeKey:
    """The identity of a node: its type and its name, without regard to case and spacing."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}({self.name})"


@dataclass(frozen=True)
class AddNode:
    """A node; where it is there already, the properties that it lacks are added, and one that differs is refused."""

    type: str
    name: str
    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> NodeKey:
        """The identity of the node."""
        return NodeKey(self.type, self.name)


@dataclass(frozen=True)
class AddEdge:
    """An edge between two nodes that are there or are added by the same update; adding it again changes nothing."""

    type: str
    source: NodeKey
    target: NodeKey
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SetProperty:
    """A new value for a property of a node, in place of the one it has; ``None`` removes it."""

    node: NodeKey
    property: str
    value: Any


Update = AddNode | AddEdge | SetProperty
"""One operation."""

_FIELDS: dict[str, tuple[type, dict[str, type], frozenset[str]]] = {
    "AddNode": (AddNode, {"type": str, "name": str, "properties": Mapping}, frozenset({"properties"})),
    "AddEdge": (
        AddEdge,
        {"type": str, "source": Mapping, "target": Mapping, "properties": Mapping},
        frozenset({"properties"}),
    ),
    "SetProperty": (SetProperty, {"node": Mapping, "property": str, "value": object}, frozenset()),
}


def parse_update(entry: Any, place: int = 0) -> Update:
    """Reads one operation from the object that JSON made of it.

    Args:
        entry: The object.
        place: Its place in the list, for the message.

    Raises:
        SchemaError: It is none of the three operations, or a field is missing, unknown or of the wrong type.
    """
    operation = entry.get("op") if isinstance(entry, Mapping) else None
    if not isinstance(operation, str) or operation not in _FIELDS:
        raise SchemaError(f"update {place}: op must be one of {', '.join(_FIELDS)}, got {operation!r}")
    try:
        json.dumps(entry, ensure_ascii=False, default=str).encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise SchemaError(f"update {place} ({operation}): cannot be stored: {error}") from error
    kind, fields, optional = _FIELDS[operation]
    given = {name: value for name, value in entry.items() if name != "op"}
    unknown, missing = set(given) - set(fields), set(fields) - set(given) - optional
    if unknown or missing:
        wrong = [f"{name} is missing" for name in sorted(missing)] + [f"{name} is no field" for name in sorted(unknown)]
        raise SchemaError(f"update {place} ({operation}): {'; '.join(wrong)}")
    for name, value in given.items():
        if not isinstance(value, fields[name]):
            raise SchemaError(f"update {place} ({operation}): {name} has the wrong type, {type(value).__name__}")
        if name in ("source", "target", "node"):
            given[name] = _key(value, f"update {place} ({operation}): {name}")
    update: Update = kind(**given)
    return update


def _key(entry: Any, place: str) -> NodeKey:
    kind, name = entry.get("type"), entry.get("name")
    if set(entry) != {"type", "name"} or not isinstance(kind, str) or not isinstance(name, str):
        raise SchemaError(f"{place} must be an object with a type and a name, got {dict(entry)!r}")
    return NodeKey(kind, name)
