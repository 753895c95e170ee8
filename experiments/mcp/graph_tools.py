"""The agent's tools over any graph: its classes are the types, its relations the properties.

>>> GraphTools(graph).query_kg("country", "capital", {"entity": "Spain"})
'Spain -> capital -> Madrid'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kg.errors import QueryError
from kg.graphs import FactGraph
from kg.text import nearest

SHOWN = 100
"""The most names or facts that one call shows."""


class GraphTools:
    """Tools over a graph.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: FactGraph) -> None:
        self.graph = graph

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The output of a tool.

        Raises:
            QueryError: There is no such tool, type, property or entity.
        """
        if name == "calculate":
            raise QueryError("calculate is for reports")
        lines = list(dict.fromkeys(getattr(self, name)(**arguments)))
        more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
        return "\n".join([*lines[:SHOWN], *more]) or "none"

    def introspect_ontology(self, action: str, entity_type: str = "") -> Iterator[str]:
        """The types with their numbers of entities (list_types), or the properties of one."""
        if action == "list_types":
            return (f"{kind.names[0]} ({len(kind.members)})" for kind in self.graph.classes)
        return (relation for _, relation, _ in self._facts(self._members(entity_type)))

    def list_entities(self, entity_type: str) -> Iterator[str]:
        """The entities of a type."""
        return map(self.graph.name, self._members(entity_type))

    def query_kg(
        self,
        entity_type: str,
        property: str = "",  # noqa: A002 - as the agent's own tool
        filters: Mapping[str, Any] | None = None,
    ) -> Iterator[str]:
        """The facts of the entities of a type; ``filters`` may hold ``entity``, a name."""
        entity = str((filters or {}).get("entity", ""))
        members = self._members(entity_type)
        if entity:
            members = tuple(sorted(set(members) & set(self._members(entity))))
        facts = list(self._facts(members))
        if property and property not in (relations := {relation for _, relation, _ in facts}):
            raise QueryError(f"{entity or entity_type} has no {property}; {nearest(property, relations)}")
        return (" -> ".join(fact) for fact in facts if property in ("", fact[1]))

    def _facts(self, members: tuple[int, ...]) -> Iterator[tuple[str, str, str]]:
        graph = self.graph
        for node in members:
            for relation, inverse in graph.steps(node):
                for other in () if inverse else graph.follow(node, relation):
                    yield graph.name(node), graph.relations[relation].names[0], graph.name(other)

    def _members(self, name: str) -> tuple[int, ...]:
        """The members of a class, or the entities of a name, as not every graph has classes."""
        for kind in self.graph.classes:
            if name.lower() in map(str.lower, kind.names):
                return kind.members
        nodes = (node for node, names in enumerate(self.graph.names) if name.lower() in map(str.lower, names))
        if entities := tuple(filter(self.graph.is_entity, nodes)):
            return entities
        raise QueryError(f"there is no {name!r}; {nearest(name, {kind.names[0] for kind in self.graph.classes})}")
