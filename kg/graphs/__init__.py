"""Graphs: RDF files and stores, named triples, graph indexes, and the graph context of a conversation."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.graphs.context import EntityContext, GraphContext
    from kg.graphs.facts import FactGraph, NodeClass, Relation
    from kg.graphs.index import INVERSE, MOST_EDGES, GraphIndex
    from kg.graphs.name_table import Ids, NameBuilder, NameTable, Postings, postings
    from kg.graphs.namespaces import KG, OA, PREFIXES, QB, SDMX_ATTRIBUTE, SDMX_DIMENSION, SDMX_MEASURE, Terms
    from kg.graphs.naming import Triple, local_name, plain_name
    from kg.graphs.rdf import frozen_graph, graph_sha256, is_parse_error, quoted, slug, turtle, turtle_values
    from kg.graphs.statements import named_index
    from kg.graphs.stores import EndpointStore
    from kg.graphs.triples import (
        RDF_FILES,
        is_table_of_triples,
        read_file,
        read_rdf,
        read_store,
        read_table,
        write_turtle,
    )
    from kg.graphs.units import converted, dimension_of, unit_of
    from kg.graphs.values import Value, ValueKind, read_date, read_value
else:
    __getattr__ = lazy_exports(__name__, __file__)
