"""Graphs: RDF files and stores, named triples, graph indexes, and the graph context of a conversation."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.graphs.context import EntityContext, GraphContext, Neighbour
    from kg.graphs.index import INVERSE, GraphIndex, Ids
    from kg.graphs.namespaces import KG, OA, PREFIXES, QB, SDMX_ATTRIBUTE, SDMX_DIMENSION, SDMX_MEASURE, Triple
    from kg.graphs.naming import Statement, local_name, name_statements
    from kg.graphs.rdf import (
        frozen_graph,
        graph_sha256,
        is_parse_error,
        quoted,
        read_turtle,
        slug,
        turtle,
        turtle_values,
    )
    from kg.graphs.statements import labelled, neighbourhood, read_ntriples, read_turtle_statements, store_statements
    from kg.graphs.stores import EndpointStore, GraphStore, MemoryStore, PersistentStore
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "INVERSE",
    "KG",
    "OA",
    "PREFIXES",
    "QB",
    "SDMX_ATTRIBUTE",
    "SDMX_DIMENSION",
    "SDMX_MEASURE",
    "EndpointStore",
    "EntityContext",
    "GraphContext",
    "GraphIndex",
    "GraphStore",
    "Ids",
    "MemoryStore",
    "Neighbour",
    "PersistentStore",
    "Statement",
    "Triple",
    "frozen_graph",
    "graph_sha256",
    "is_parse_error",
    "labelled",
    "local_name",
    "name_statements",
    "neighbourhood",
    "quoted",
    "read_ntriples",
    "read_turtle",
    "read_turtle_statements",
    "slug",
    "store_statements",
    "turtle",
    "turtle_values",
]
