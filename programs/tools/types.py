"""Tools by which an agent proposes new types of nodes and edges, and further properties of existing ones.

>>> create_node_type = node_type_tool(TypeProposals(graph, "review"))
>>> create_node_type(name="Regulation", description="A standing rule ...", properties_schema={...},
...                  example={"name": "Rule 7"}, justification="Rules last, events happen once.")
'Regulation is pending: a person will decide; use an existing type until then'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kg.growing import EdgeType, NodeType, TypeProposals

_CREATED = {
    "accepted": "{} is a type now",
    "pending": "{} is pending: a person will decide; use an existing type until then",
}
_EXTENDED = {
    "accepted": "{} has these properties now",
    "pending": "the change of {} is pending: a person will decide; use its present properties until then",
}


def node_type_tool(proposals: TypeProposals) -> Callable[..., str]:
    """The tool ``create_node_type``; proposals go to ``proposals``, by its policy."""

    def create_node_type(
        name: str,
        description: str,
        properties_schema: dict[str, Any],
        example: dict[str, Any],
        justification: str,
        labels: list[str] | None = None,
        differs_from: list[str] | None = None,
    ) -> str:
        """Proposes a node type (PascalCase) where no existing one fits.

        properties_schema is a JSON Schema, in which a property may have x-labels; labels are what people call it;
        differs_from names types of a near meaning, if a proposal was refused for them and still is another.
        """
        about: dict[str, Any] = {"justification": justification, "labels": tuple(labels or ())}
        new = NodeType(name, description, properties_schema, example, "agent", **about)
        return _CREATED[proposals.propose(new, differs_from or ())].format(name)

    return create_node_type


def edge_type_tool(proposals: TypeProposals) -> Callable[..., str]:
    """The tool ``create_edge_type``; proposals go to ``proposals``, by its policy."""

    def create_edge_type(
        name: str,
        description: str,
        source_types: list[str],
        target_types: list[str],
        justification: str,
        properties_schema: dict[str, Any] | None = None,
        example: dict[str, Any] | None = None,
        labels: list[str] | None = None,
        inverse_labels: list[str] | None = None,
        differs_from: list[str] | None = None,
    ) -> str:
        """Proposes an edge type (snake_case) where no existing one fits; source and target are node types.

        labels are verbs and nouns by which people say it, inverse_labels those from target to source.
        """
        schema = properties_schema if properties_schema is not None else {"type": "object", "properties": {}}
        about: dict[str, Any] = {
            "justification": justification,
            "source_types": tuple(source_types),
            "target_types": tuple(target_types),
            "labels": tuple(labels or ()),
            "inverse_labels": tuple(inverse_labels or ()),
        }
        new = EdgeType(name, description, schema, example if example is not None else {}, "agent", **about)
        return _CREATED[proposals.propose(new, differs_from or ())].format(name)

    return create_edge_type


def properties_tool(proposals: TypeProposals) -> Callable[..., str]:
    """The tool ``add_properties``; proposals go to ``proposals``, by its policy."""

    def add_properties(type_name: str, properties: dict[str, Any], justification: str) -> str:
        """Proposes further properties of an existing type, each with its JSON Schema."""
        return _EXTENDED[proposals.extend(type_name, properties, justification)].format(type_name)

    return add_properties
