"""The entities that a turn was about, with their edges.

>>> entity = EntityContext(GERMANY, "Germany", (COUNTRY,), (("area", "357022"),), ())
>>> GraphContext((entity,)).entities[0].properties
(('area', '357022'),)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Neighbour:
    """An edge of an entity to another.

    Attributes:
        relation: The name or IRI of the relation.
        node: The other entity's IRI.
        label: Its label, or its local name.
        outgoing: Whether the entity is the subject.
    """

    relation: str
    node: str
    label: str
    outgoing: bool = True


@dataclass(frozen=True)
class EntityContext:
    """The edges of one entity.

    Attributes:
        node: Its IRI.
        label: Its label, or its local name.
        types: The names or IRIs of its classes.
        properties: Its literal properties without its label, each with its value.
        neighbours: Its edges to other entities.
    """

    node: str
    label: str
    types: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    neighbours: tuple[Neighbour, ...] = ()


@dataclass(frozen=True)
class GraphContext:
    """The entities of a turn, those of the question first."""

    entities: tuple[EntityContext, ...] = ()
