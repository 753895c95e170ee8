"""A growing graph's types as triples of a named graph of their own, and the way back.

Each version of each type is one resource whose content is kept as JSON, with its name, kind and version as triples
that queries can read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from pyoxigraph import Literal, NamedNode, Quad, Store

from kg.growing import terms
from kg.growing.schema import EdgeType, NodeType, Schema

_CONTENT, _ORDER, _DESCRIPTION = (NamedNode(terms.KG + name) for name in ("typeContent", "typeOrder", "description"))
_CLASSES = {EdgeType: NamedNode(terms.KG + "EdgeType"), NodeType: NamedNode(terms.KG + "NodeType")}
_JSON = NamedNode(terms.PREFIXES["rdf"] + "JSON")


def schema_quads(schema: Schema, graph: NamedNode = terms.SCHEMA) -> list[Quad]:
    """All versions of all types, as triples of a named graph."""
    return [quad for order, kind in enumerate(schema.types) for quad in _type_quads(kind, order, graph)]


def _type_quads(kind: NodeType | EdgeType, order: int, graph: NamedNode) -> Sequence[Quad]:
    subject = NamedNode(terms.source_term(f"{kind.name}/{kind.version}").value.replace("/source/", "/type-version/"))
    content = json.dumps(asdict(kind), ensure_ascii=False, sort_keys=True)
    return [
        Quad(subject, terms.RDF_TYPE, _CLASSES[type(kind)], graph),
        Quad(subject, terms.LABEL, Literal(kind.name), graph),
        Quad(subject, _DESCRIPTION, Literal(kind.description), graph),
        Quad(subject, terms.VERSION, Literal(kind.version), graph),
        Quad(subject, _ORDER, Literal(order), graph),
        Quad(subject, _CONTENT, Literal(content, datatype=_JSON), graph),
    ]


def load_schema(store: Store, graph: NamedNode = terms.SCHEMA) -> Schema:
    """The types that a named graph holds, in the order in which they were made."""
    found: list[tuple[int, NodeType | EdgeType]] = []
    for made, name in _CLASSES.items():
        for quad in store.quads_for_pattern(None, terms.RDF_TYPE, name, graph):
            about = {q.predicate: q.object for q in store.quads_for_pattern(quad.subject, None, None, graph)}
            content = json.loads(terms.text_of(about[_CONTENT]))
            content.pop("scope", None)  # earlier versions wrote it, always empty
            for field in ("source_types", "target_types", "labels", "inverse_labels"):
                if field in content:
                    content[field] = tuple(content[field])
            found.append((int(terms.text_of(about[_ORDER])), made(**content)))
    return Schema(tuple(kind for _, kind in sorted(found, key=lambda pair: pair[0])))
