"""Graphs that grow: typed nodes and edges with their origins, an evolvable schema, isolated queries."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.growing.change import AddEdge, AddNode, Applied, Origin, SetProperty, Update
    from kg.growing.graph import GrowingGraph
    from kg.growing.history import BuiltOnError, HistoryEntry
    from kg.growing.proposals import SAME_MEANING, TypeMeaning, TypePolicy, TypeProposals
    from kg.growing.schema import CreatedBy, EdgeType, NodeType, Schema, spelled
    from kg.growing.store import Edge, Node
    from kg.growing.tables import Table, add_tables
    from kg.growing.terms import NODE, NodeKey, node_term
    from kg.growing.triples import graph_triples, without_legal_form
else:
    __getattr__ = lazy_exports(__name__, __file__)
