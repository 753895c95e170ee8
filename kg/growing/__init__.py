"""Graphs that grow: typed nodes and edges with their origins, an evolvable schema, isolated queries, paths."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.growing.basis import BasicFact, facts_behind
    from kg.growing.facts import Edge, Node
    from kg.growing.graph import Applied, GrowingGraph, Origin
    from kg.growing.history import BuiltOnError, HistoryEntry, Replaced
    from kg.growing.paths import COLUMNS, retrieved_paths
    from kg.growing.proposals import TypePolicy, TypeProposals
    from kg.growing.query import QueryLimits, QueryResult
    from kg.growing.support import likely_span, supporting_span
    from kg.growing.terms import NODE, node_term
    from kg.growing.updates import AddEdge, AddNode, NodeKey, SetProperty, Update, parse_update
    from kg.growing.view import entity_view
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "COLUMNS",
    "NODE",
    "AddEdge",
    "AddNode",
    "Applied",
    "BasicFact",
    "BuiltOnError",
    "Edge",
    "GrowingGraph",
    "HistoryEntry",
    "Node",
    "NodeKey",
    "Origin",
    "QueryLimits",
    "QueryResult",
    "Replaced",
    "SetProperty",
    "TypePolicy",
    "TypeProposals",
    "Update",
    "entity_view",
    "facts_behind",
    "likely_span",
    "node_term",
    "parse_update",
    "retrieved_paths",
    "supporting_span",
]
