"""A graph of boats and their skippers, about which the tests of this folder ask."""

from __future__ import annotations

from kg.algebra import Evaluator, NamedNodes, Query
from kg.graphs import FactGraph, read_table

GRAPH = FactGraph.build(
    read_table(
        """subject,predicate,object
Wren,type,Boat
Tern,type,Boat
Skua,type,Boat
Wren,skippered by,Ida Holm
Tern,skippered by,Olav Lie
Skua,skippered by,Olav Lie
Ida Holm,type,Sailor
Olav Lie,type,Sailor
Wren,length,9
Tern,length,14
Skua,length,11
Ida Holm,home port,Vardal
Olav Lie,home port,Vardal
Vardal,type,Town
""",
        what="boats",
    )
)


def relation(name: str, graph: FactGraph = GRAPH) -> int:
    return next(place for place, one in enumerate(graph.relations) if one.names[0] == name)


def named(name: str) -> NamedNodes:
    return NamedNodes((next(place for place, names in enumerate(GRAPH.names) if names[0] == name),))


def members(name: str) -> Query:
    return Evaluator(GRAPH).members(next(place for place, one in enumerate(GRAPH.classes) if one.names[0] == name))
