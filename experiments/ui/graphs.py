"""The graph of a subject as Turtle, and queries that read it and nothing else.

>>> query(subject, "SELECT ?year ?value { ?x kg:year ?year ; kg:net_income ?value }")["rows"]
[{'year': '2020', 'value': '50652'}, ...]
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import quote

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, QueryBoolean, QuerySolutions, RdfFormat, Store

from experiments.facade import Subject
from kg.errors import ConfigError, QueryError
from kg.graphs import PREFIXES, FactGraph, Value
from kg.reports import build_report_graph

MOST_ROWS = 10_000
"""Rows of a result that are given."""

_PARSER = threading.Lock()
"""The parser of rdflib must not be used by several threads."""

_LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_DECIMAL = NamedNode("http://www.w3.org/2001/XMLSchema#decimal")
_NAMES = {prefix: str(namespace) for prefix, namespace in PREFIXES.items()}


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
    """The first rows of a query, or its triples as Turtle; the prefixes of reports are known.

    Raises:
        QueryError: The query cannot be answered, or would read another graph.
    """
    _check_query(text)
    return _result(subject, text)


def _result(subject: Subject | None, text: str) -> dict[str, Any]:
    """The result of a query that was checked.

    The parser of the check keeps errors with the frames that led to them, and a result must be freed by its own thread:
    so it is in no such frame.
    """
    store = Store()
    store.load(turtle_of(subject).encode(), format=RdfFormat.TURTLE)
    try:
        result = store.query(text, prefixes=_NAMES)
        if isinstance(result, QueryBoolean):
            return {"rows": [{"answer": "yes" if result else "no"}], "turtle": None}
        if not isinstance(result, QuerySolutions):
            return {"rows": [], "turtle": (result.serialize(format=RdfFormat.TURTLE) or b"").decode()}
        names = [variable.value for variable in result.variables]
        rows = [{name: getattr(row[name], "value", None) for name in names} for row in islice(result, MOST_ROWS)]
    except (SyntaxError, ValueError, OSError) as error:
        raise QueryError(f"the query cannot be answered: {error}") from error
    return {"rows": rows, "turtle": None}


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


def _check_query(text: str) -> None:
    """Raises QueryError where a query asks another server or loads another graph."""
    from pyparsing import ParseResults
    from rdflib.plugins.sparql.parser import parseQuery

    try:
        with _PARSER:
            waiting: list[Any] = [parseQuery(text)]
    except Exception as error:
        raise QueryError(f"the query cannot be parsed: {error}") from error
    while waiting:
        part = waiting.pop()
        if getattr(part, "name", "") in ("ServiceGraphPattern", "DatasetClause"):
            raise QueryError("a query must read this graph only: SERVICE and FROM are refused")
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple | ParseResults):
            waiting += list(part)
