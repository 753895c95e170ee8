"""The graph of a subject as Turtle, and queries that read it and nothing else.

>>> query_graph(subject, "SELECT ?year ?value { ?x kg:year ?year ; kg:net_income ?value }")["rows"]
[{'year': '2020', 'value': '50652'}, ...]
"""

from __future__ import annotations

import json
from typing import Any

from experiments.facade import Subject
from experiments.ui.worker import work
from kg.errors import ConfigError
from kg.graphs import PREFIXES, FactGraph, write_turtle
from kg.reports import build_report_graph

MOST_ROWS = 10_000
"""Rows of the answer to a query."""

_DECLARED = "".join(f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in PREFIXES.items())


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
    return write_turtle(typed_graph(subject))


def query_graph(subject: Subject | None, text: str) -> dict[str, Any]:
    """The first rows of a SELECT, or the answer of an ASK; the prefixes of reports are known.

    Raises:
        ConfigError: There is no graph.
        QueryError: The query cannot be answered, asks a server, or takes too long.
    """
    message = {"query": _DECLARED + text, "rows": MOST_ROWS}
    result: dict[str, Any] = json.loads(work("sparql", message, turtle_of(subject).encode()))
    return result
