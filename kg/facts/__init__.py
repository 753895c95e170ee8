"""Facts of any graph: triples of files and stores as typed nodes, relations and classes with names."""

from kg.facts.graph import FactGraph, NodeClass, Relation
from kg.facts.names import converted, dimension_of, unit_of
from kg.facts.triples import (
    RDF_FILES,
    Triple,
    is_table_of_triples,
    read_file,
    read_rdf,
    read_store,
    read_table,
)
from kg.facts.values import Value, ValueKind, read_date, read_value

__all__ = [
    "RDF_FILES",
    "FactGraph",
    "NodeClass",
    "Relation",
    "Triple",
    "Value",
    "ValueKind",
    "converted",
    "dimension_of",
    "is_table_of_triples",
    "read_date",
    "read_file",
    "read_rdf",
    "read_store",
    "read_table",
    "read_value",
    "unit_of",
]
