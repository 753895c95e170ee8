"""Tools by which an agent proposes new types of nodes and edges, and further properties of existing ones.

>>> TypeTools(TypeProposals(graph, "review")).create_node_type(name="Regulation", description="A standing rule ...",
...     properties_schema={...}, example={"name": "Rule 7"}, justification="Rules last, events happen once.")
'Regulation is pending: a person will decide; use an existing type until then'
"""

from __future__ import annotations

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


class TypeTools:
    """The tools that propose types; their docstrings are prompts.

    Args:
        proposals: Takes the proposals, and decides by its policy.
    """

    def __init__(self, proposals: TypeProposals) -> None:
        self._proposals = proposals

    def create_node_type(
        self,
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
        return _CREATED[self._proposals.propose(new, differs_from or ())].format(name)

    def create_edge_type(
        self,
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
        return _CREATED[self._proposals.propose(new, differs_from or ())].format(name)

    def add_properties(self, type_name: str, properties: dict[str, Any], justification: str) -> str:
        """Proposes further properties of an existing type, each with its JSON Schema."""
        return _EXTENDED[self._proposals.extend(type_name, properties, justification)].format(type_name)
