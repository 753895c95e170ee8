"""A growing graph as a graph of entities, for the programs that answer questions about one.

>>> view = entity_view(graph)
>>> [view.lexicon.label(node) for node in view.members(TYPE + "Sector")]
['Energy', 'Semiconductor']

A copy in memory of what the graph holds now: names, classes, properties and edges, without origins and versions.
"""

from __future__ import annotations

from rdflib import Graph, Literal, URIRef
from rdflib.namespace import RDF, RDFS

from kg import growing_terms as terms
from kg.entity_graph import EntityGraph
from kg.growing import GrowingGraph
from kg.growing_change import plain_properties
from kg.stores import MemoryStore


def entity_view(graph: GrowingGraph) -> EntityGraph:
    """The graph as it is now."""
    view = Graph()
    for node in graph.nodes():
        subject = URIRef(terms.node_term(node.key).value)
        view.add((subject, RDF.type, URIRef(terms.type_term(node.key.type).value)))
        view.add((subject, RDFS.label, Literal(node.key.name)))
        for name, value in plain_properties(node.properties).items():
            view.add((subject, URIRef(terms.property_term(name).value), Literal(value)))
    for edge in graph.edges():
        ends = [URIRef(terms.node_term(key).value) for key in (edge.source, edge.target)]
        view.add((ends[0], URIRef(terms.edge_type_term(edge.type).value), ends[1]))
    store = MemoryStore()
    store.put_graph(terms.KNOWLEDGE.value, view)
    return EntityGraph(store, terms.KNOWLEDGE.value)
