"""The process that runs a query written by a language model over a copy of a graph.

Started by :mod:`kg.growing.query` as ``python -m kg.growing.query_worker``. It reads one line of JSON, ``{"query":
SPARQL, "rows": limit, "seconds": time, "start": seconds to load, "matched": null}``, and then the graph as N-Triples.
It writes its answer as JSON. An alarm ends it after its time, also in the middle of a call. With the columns and rows
of an answer in ``matched`` it does not write the query's rows, but the triples of its pattern that led to these rows.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pyoxigraph import QueryBoolean, QuerySolutions, RdfFormat, Store
from rdflib import Graph
from rdflib.plugins.sparql.algebra import translateQuery, traverse
from rdflib.plugins.sparql.evaluate import evalPart
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.sparql import QueryContext
from rdflib.term import URIRef

from kg.graphs import is_parse_error
from kg.growing.terms import EDGE_TYPE, FROM, PREFIXES, PROPERTY, TO

MEMORY = 4 * 1024**3
"""The most bytes that the process may map, where the system can limit it."""

MOST_CHARACTERS = 1_000_000
"""Characters of all rows of an answer."""

_DECLARED = "".join(f"PREFIX {name}: <{namespace}>\n" for name, namespace in PREFIXES.items())


def main() -> None:
    """Answers one query."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    message = json.loads(sys.stdin.buffer.readline())
    _set_alarm(message["start"])
    facts = sys.stdin.buffer.read()
    query, limit = message["query"], message["rows"]
    try:
        if message["matched"] is None:
            store = Store()
            store.load(facts, format=RdfFormat.N_TRIPLES)
            _set_alarm(message["seconds"])
            answer = _answer(store, query, limit)
        else:
            graph = Graph().parse(data=facts, format="nt")
            _set_alarm(message["seconds"])
            answer = _matched(graph, query, message["matched"], limit)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        answer = {"error": str(error) or type(error).__name__}
    except Exception as error:
        if not is_parse_error(error):
            raise
        answer = {"error": f"the query cannot be parsed: {error}"}
    sys.stdout.write(json.dumps(answer))


def _set_alarm(seconds: float) -> None:
    """Lets the system end this process after some seconds, also in the middle of a call; 0 for never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _answer(store: Store, query: str, limit: int) -> dict[str, Any]:
    _checked(query)
    found = store.query(query, prefixes=PREFIXES)
    if isinstance(found, QueryBoolean):
        return {"columns": ["answer"], "rows": [[bool(found)]], "more": False}
    assert isinstance(found, QuerySolutions)
    columns = [variable.value for variable in found.variables]
    rows: list[list[Any]] = []
    size = 0
    for row in islice(found, limit + 1):
        rows.append([getattr(row[name], "value", None) for name in columns])
        size += sum(len(value) for value in rows[-1] if value is not None)
        if size > MOST_CHARACTERS:
            raise ValueError(f"the rows have more than {MOST_CHARACTERS} characters: select less")
    return {"columns": columns, "rows": rows[:limit], "more": len(rows) > limit}


def _checked(query: str) -> Any:
    """Returns a query as rdflib parses it.

    Raises:
        ValueError: It does not only read this graph.
    """
    parsed = parseQuery(_DECLARED + query)
    kinds: set[str] = set()
    traverse(parsed, visitPre=lambda part: kinds.add(getattr(part, "name", "")))
    if "ServiceGraphPattern" in kinds:
        raise ValueError("SERVICE is not allowed: a query reads this graph alone")
    if not kinds & {"SelectQuery", "AskQuery"}:
        raise ValueError("only SELECT and ASK are allowed")
    return parsed


def _matched(graph: Graph, query: str, result: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Returns the triples of a query's pattern that led to some rows, at most ``limit`` of them."""
    translated = translateQuery(_checked(query))
    pattern = _pattern(translated.algebra)
    context = QueryContext(graph)
    context.prologue = translated.prologue
    wanted = list(_triples(pattern))
    triples: dict[tuple[str, ...], None] = {}
    for solution in evalPart(context, pattern):
        bound = {str(name): str(value) for name, value in solution.items()}
        if not any(_leads_to(bound, result["columns"], row) for row in result["rows"]):
            continue
        for triple in wanted:
            subject, predicate, value = (solution.get(part, part) for part in triple)
            if (subject, predicate, value) in graph:
                triples |= dict.fromkeys(_directed(graph, subject, predicate, value))
        if len(triples) >= limit:
            break
    rows = [list(triple) for triple in triples]
    return {"columns": ["subject", "predicate", "object"], "rows": rows[:limit], "more": len(rows) > limit}


def _directed(graph: Graph, subject: Any, predicate: Any, value: Any) -> Iterator[tuple[str, str, str]]:
    """Yields a triple; in place of one of an edge's own resource, the edge from node to node and its property."""
    kind, source, target = (graph.value(subject, URIRef(term.value)) for term in (EDGE_TYPE, FROM, TO))
    if kind is None:
        yield str(subject), str(predicate), str(value)
        return
    yield str(source), str(kind), str(target)
    if predicate.startswith(PROPERTY):
        yield str(source), str(predicate), str(value)


def _pattern(algebra: Any) -> Any:
    """Returns the graph pattern of a query, below its projection, order, limit and aggregates."""
    part = algebra.p
    while part.name in ("Slice", "Distinct", "Reduced", "Project", "OrderBy"):
        part = part.p
    below = part
    while below.name in ("Extend", "Filter"):
        below = below.p
    return below.p.p if below.name == "AggregateJoin" else part


def _triples(part: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yields the triples of a pattern that a solution must match."""
    if not isinstance(part, dict):
        return
    name = getattr(part, "name", "")
    if name == "BGP":
        yield from part["triples"]
    for key, value in part.items():
        if isinstance(value, dict) and key in ("p", "p1", "p2") and not (name == "Minus" and key == "p2"):
            yield from _triples(value)


def _leads_to(bound: Mapping[str, str], columns: list[str], row: list[Any]) -> bool:
    """Whether a solution agrees with a row in all columns that both have."""
    return all(
        name not in bound or value is None or bound[name] == str(value)
        for name, value in zip(columns, row, strict=True)
    )


if __name__ == "__main__":
    main()
