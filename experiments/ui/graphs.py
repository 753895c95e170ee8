"""The graph of a subject as Turtle, and queries that read it and nothing else.

>>> query(subject, "SELECT ?year ?value { ?x kg:year ?year ; kg:net_income ?value }")["rows"]
[{'year': '2020', 'value': '50652'}, ...]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Store

from experiments.facade import Subject
from kg.errors import ConfigError
from kg.graphs import PREFIXES, FactGraph, Value
from kg.growing.query import QueryLimits, isolated_query
from kg.reports import build_report_graph

LIMITS = QueryLimits(seconds=30.0, rows=10_000)
"""Of a query, which is answered by a process of its own."""

_LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_DECIMAL = NamedNode("http://www.w3.org/2001/XMLSchema#decimal")
_NAMES = {prefix: str(namespace) for prefix, namespace in PREFIXES.items()}
_DECLARED = "".join(f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in _NAMES.items())


def typed_graph(subject: Subject) -> FactGraph:
    """The typed facts of a graph.

    Raises:
        ConfigError: The subject is none.
    """
    reader = subject.world.reader if subject.kind == "graph" else None
    if reader is None:
        raise ConfigError(f"a report or a graph must be open, got a {subject.kind}")
    graph: FactGraph = reader.graph
    return graph


def turtle_of(subject: Subject | None) -> str:
    """The graph of a report, or any graph, as Turtle.

    Raises:
        ConfigError: There is none.
    """
    if subject is None:
        raise ConfigError("a report or a graph must be open, got none")
    if subject.kind == "report":
        return build_report_graph(subject.world.report, subject.program.ontology).to_turtle()
    store = Store()
    store.extend(_quads(typed_graph(subject)))
    return (store.dump(format=RdfFormat.TURTLE, from_graph=DefaultGraph(), prefixes=_NAMES) or b"").decode()


def query(subject: Subject | None, text: str) -> dict[str, Any]:
    """The first rows of a SELECT, or the answer of an ASK; the prefixes of reports are known.

    Raises:
        ConfigError: There is no graph.
        QueryError: The query cannot be answered, asks a server, or takes too long.
    """
    triples = Store()
    triples.load(turtle_of(subject).encode(), format=RdfFormat.TURTLE)
    facts = (triples.dump(format=RdfFormat.N_TRIPLES, from_graph=DefaultGraph()) or b"").decode()
    found = isolated_query(facts, _DECLARED + text, LIMITS)
    named = {True: "yes", False: "no"}
    rows = [[named.get(one, one) for one in row] for row in found.rows]
    return {"rows": [dict(zip(found.columns, row, strict=True)) for row in rows], "more": found.more}


def _quads(graph: FactGraph) -> Iterator[Quad]:
    """The facts of a graph, with names as labels; what has no IRI gets one of its name."""
    relations = [NamedNode(_iri(relation.iri)) for relation in graph.relations]
    terms = [_term(value) for value in graph.values]
    for node, subject in enumerate(terms):
        if isinstance(subject, Literal):
            continue
        if not graph.is_nameless(node):
            yield Quad(subject, _LABEL, Literal(graph.name(node)))
        for kind in graph.types[node]:
            yield Quad(subject, _TYPE, NamedNode(_iri(graph.classes[kind].iri)))
        for relation, inverse in graph.steps(node):
            for other in () if inverse else graph.follow(node, relation):
                yield Quad(subject, relations[relation], terms[other])


def _term(value: Value) -> NamedNode | BlankNode | Literal:
    if value.kind != "entity":
        return Literal(value.text) if value.number is None else Literal(f"{value.number:f}", datatype=_DECIMAL)
    return BlankNode(value.text[2:]) if value.text.startswith("_:") else NamedNode(_iri(value.text))


def _iri(text: str) -> str:
    return text if text.startswith(("http://", "https://", "urn:")) else f"urn:finpath:name/{quote(text)}"
