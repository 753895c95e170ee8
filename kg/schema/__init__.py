"""The evolvable schema of a growing graph: types of nodes and edges, their versions and their likeness."""

from kg.schema.likeness import SAME_MEANING, TypeMeaning, spelled
from kg.schema.schema import VALUE_LABELS, CreatedBy, EdgeType, NodeType, Schema

__all__ = [
    "SAME_MEANING",
    "VALUE_LABELS",
    "CreatedBy",
    "EdgeType",
    "NodeType",
    "Schema",
    "TypeMeaning",
    "spelled",
]
