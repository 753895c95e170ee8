"""The agent's tools over any graph: its classes are the types, its relations the properties.

>>> GraphTools(graph).query_kg("country", "capital", {"entity": "Spain"})
'Spain -> capital -> Madrid'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from kg.errors import QueryError
from kg.graphs import FactGraph, NodeClass
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
        tool = getattr(self, name, None)
        if tool is None:
            raise QueryError(f"{name} is for reports")
        return str(tool(**arguments))

    def introspect_ontology(
        self, action: Literal["list_types", "get_properties"], entity_type: str | None = None
    ) -> str:
        """Lists the types with their numbers of entities, or the properties of one."""
        if action == "list_types":
            return ", ".join(f"{kind.names[0]} ({len(kind.members)})" for kind in self.graph.classes) or "none"
        steps = self.graph.steps_of(self._type(entity_type or "").members)
        return ", ".join(
            dict.fromkeys(self.graph.relations[relation].names[0] for relation, inverse in steps if not inverse)
        )

    def list_entities(self, entity_type: str) -> str:
        """Lists the entities of a type."""
        return _listed([self.graph.name(node) for node in self._type(entity_type).members], ", ")

    def query_kg(
        self,
        entity_type: str,
        property: str | None = None,  # noqa: A002 - as the agent's own tool
        filters: Mapping[str, Any] | None = None,
    ) -> str:
        """Lists the facts of the entities of a type; ``filters`` may hold ``entity``, a name."""
        graph, members = self.graph, self._type(entity_type).members
        wanted = str((filters or {}).get("entity", "")).lower()
        if wanted:
            members = tuple(node for node in members if wanted in map(str.lower, graph.names[node]))
        known = {relation for relation, inverse in graph.steps_of(members) if not inverse}
        relations = {one for one in known if property is None or property in graph.relations[one].names}
        if not relations:
            names = {graph.relations[one].names[0] for one in known}
            raise QueryError(f"{wanted or entity_type} has no {property or 'fact'}; {nearest(property or '', names)}")
        facts = [
            f"{graph.name(node)} -> {graph.relations[relation].names[0]} -> {graph.name(other)}"
            for node in members
            for relation, inverse in graph.steps(node)
            if relation in relations and not inverse
            for other in graph.follow(node, relation)
        ]
        return _listed(facts, "\n")

    def _type(self, name: str) -> NodeClass:
        """A class, or the entities of a name, as not every graph has classes."""
        for kind in self.graph.classes:
            if name.lower() in map(str.lower, kind.names):
                return kind
        nodes = [node for node, own in enumerate(self.graph.names) if name.lower() in map(str.lower, own)]
        if entities := tuple(node for node in nodes if self.graph.is_entity(node)):
            return NodeClass(name, (name,), entities)
        names = {kind.names[0] for kind in self.graph.classes}
        raise QueryError(f"there is no entity type {name!r}; {nearest(name, names)}")


def _listed(texts: list[str], separator: str) -> str:
    more = [f"and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    return separator.join([*texts[:SHOWN], *more]) or "none"
