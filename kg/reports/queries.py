"""SPARQL queries over the graph of one report, and its validation against ``shapes.ttl``.

>>> query_report(graph, "SELECT ?year ?value { ?x kg:year ?year ; kg:net_sales ?value }").rows
[('2020', '120'), ('2019', '100')]
>>> violations(build_report_graph(report, ontology).graph)
[]

Shapes are checked by pyshacl, an optional dependency.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rdflib import Graph, Namespace

from kg.errors import ConfigError, QueryError
from kg.graphs import is_parse_error
from kg.reports.graph import ReportGraph


@dataclass(frozen=True)
class ReportQueryResult:
    """The result of a query, as text.

    Attributes:
        names: The columns: the variables of a SELECT, or ``answer`` of an ASK.
        rows: A text for each variable; empty where it is not bound.
        turtle: The triples of a CONSTRUCT or DESCRIBE that has any; ``None`` for other queries.
    """

    names: tuple[str, ...]
    rows: list[tuple[str, ...]]
    turtle: str | None = None


def query_report(graph: ReportGraph, query: str) -> ReportQueryResult:
    """The result of a SELECT, ASK, CONSTRUCT or DESCRIBE; the prefixes of the graph are known.

    Raises:
        QueryError: The query cannot be parsed or answered.
    """
    try:
        found: Any = graph.graph.query(query)
        if found.type == "ASK":
            return ReportQueryResult(("answer",), [("yes" if found.askAnswer else "no",)])
        if found.type in ("CONSTRUCT", "DESCRIBE"):
            for prefix, namespace in graph.graph.namespaces():
                found.graph.bind(prefix, namespace)
            return ReportQueryResult((), [], found.graph.serialize(format="turtle") if len(found.graph) else None)
        names = tuple(str(name) for name in found.vars)
        return ReportQueryResult(
            names, [tuple("" if term is None else _text(graph, term) for term in row) for row in found]
        )
    except (SyntaxError, ValueError, NotImplementedError, OSError) as error:
        raise QueryError(f"the query cannot be answered: {error}") from error
    except Exception as error:
        if is_parse_error(error):
            raise QueryError(f"the query cannot be parsed: {error}") from error
        raise


def _text(graph: ReportGraph, term: Any) -> str:
    """A literal's text, or an IRI by its prefix."""
    return str(term.n3(graph.graph.namespace_manager)) if hasattr(term, "defrag") else str(term)


def can_validate() -> bool:
    """Whether pyshacl is installed."""
    return find_spec("pyshacl") is not None


def violations(graph: Graph) -> list[str]:
    """The violations of shapes in a report graph, one sorted line each; empty if it conforms.

    Raises:
        ConfigError: pyshacl is not installed.
    """
    if not can_validate():
        raise ConfigError("shapes are checked with pyshacl, which is not installed: pip install pyshacl")
    import pyshacl

    copy = Graph() + graph  # pyshacl needs a store with contexts
    conforms, results, _ = pyshacl.validate(copy, shacl_graph=_shapes(), inference="none", inplace=True)
    if conforms:
        return []
    found = []
    shacl = Namespace("http://www.w3.org/ns/shacl#")
    for result in results.subjects(shacl.focusNode):
        parts = (results.value(result, term) for term in (shacl.focusNode, shacl.resultPath, shacl.resultMessage))
        found.append(": ".join(map(str, parts)))
    return sorted(found)


@cache
def _shapes() -> Graph:
    return Graph().parse(Path(__file__).with_name("shapes.ttl"), format="turtle")
