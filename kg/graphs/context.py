"""The entities that a turn was about, with their facts.

>>> entity = EntityContext(GERMANY, "Germany", (COUNTRY,), (("area", "357022"),))
>>> GraphContext((entity,)).entities[0].properties
(('area', '357022'),)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EntityContext:
    """One entity with its facts.

    Attributes:
        node: Its IRI.
        label: Its label, or its local name.
        types: The names or IRIs of its classes.
        properties: Its relations, each with a value or the label of an entity; ``^`` before one that leads to it.
    """

    node: str
    label: str
    types: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class GraphContext:
    """The entities of a turn, those of the question first."""

    entities: tuple[EntityContext, ...] = ()
