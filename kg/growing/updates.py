"""Updates of a growing graph: three typed operations, checked before they are applied.

    [AddNode("Company", "Helixon Inc.", {"country": "USA"}),
     AddNode("Asset", "HLXN", {"type": "stock"}),
     AddEdge("issued_by", NodeKey("Asset", "HLXN"), NodeKey("Company", "Helixon Inc."))]

A node is known by its type and its name; the name is also the value of the first property that the type requires,
where that is a text. A language model writes the operations as data; nothing of what it writes is ever run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
