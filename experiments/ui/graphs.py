"""The graph of a subject as Turtle, and queries that only read it.

>>> query(subject, "SELECT ?year ?value { ?x kg:year ?year ; kg:net_income ?value }")["rows"]
[{'year': '2020', 'value': '50652'}, ...]
"""

from __future__ import annotations

from typing import Any

from experiments.facade import Subject
from kg.errors import ConfigError, QueryError
from kg.reports import ReportGraph, build_report_graph, query_report


def report_graph(subject: Subject | None) -> ReportGraph:
    """The graph of a report.

    Raises:
        ConfigError: The subject is no report.
    """
    if subject is None or subject.kind != "report":
        raise ConfigError("the graph of a report can be read as Turtle, and there is no report")
    return build_report_graph(subject.world.report, subject.program.ontology)


def turtle_of(subject: Subject | None) -> str:
    """The graph of a report as Turtle."""
    return report_graph(subject).to_turtle()


def query(subject: Subject | None, text: str) -> dict[str, Any]:
    """The rows of a query, or its triples as Turtle.

    Raises:
        QueryError: The query cannot be answered, or would read another graph.
    """
    _check_query(text)
    result = query_report(report_graph(subject), text)
    return {"rows": [dict(zip(result.names, row, strict=True)) for row in result.rows], "turtle": result.turtle}


def _check_query(text: str) -> None:
    """Raises QueryError where a query asks another server or loads another graph."""
    from pyparsing import ParseResults
    from rdflib.plugins.sparql.parser import parseQuery

    try:
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
