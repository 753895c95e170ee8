"""The process that runs a query written by a language model over a copy of a graph.

Started by :mod:`kg.growing.query` as ``python -m kg.growing.query_worker``. It reads one line of JSON, ``{"query":
SPARQL, "rows": limit, "seconds": time, "start": seconds to load}``, and then the graph as N-Triples. It writes its
answer as JSON: the rows, and the triples of the query's pattern that lead to them. An alarm ends it after its time,
also in the middle of a call.
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from pyoxigraph import Quad, QueryBoolean, QuerySolutions, RdfFormat, Store
from rdflib.plugins.sparql.algebra import translateQuery, traverse
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.term import Literal, URIRef, Variable

from kg.graphs import is_parse_error
from kg.growing.terms import EDGE_TYPE, FROM, PREFIXES, PROPERTY, TO, text_of

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
        store = Store()
        store.load(facts, format=RdfFormat.N_TRIPLES)
        _set_alarm(message["seconds"])
        answer = _answer(store, query, limit)
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
    patterns = list(_triples(translateQuery(_checked(query)).algebra))
    found = store.query(query, prefixes=PREFIXES)
    if isinstance(found, QueryBoolean):
        return {"columns": ["answer"], "rows": [[bool(found)]], "more": False, "triples": []}
    assert isinstance(found, QuerySolutions)
    columns = [variable.value for variable in found.variables]
    rows: list[list[Any]] = []
    size = 0
    for row in islice(found, limit + 1):
        rows.append([row[name] for name in columns])
        size += sum(len(text_of(term)) for term in rows[-1] if term is not None)
        if size > MOST_CHARACTERS:
            raise ValueError(f"the rows have more than {MOST_CHARACTERS} characters: select less")
    texts = [[getattr(term, "value", None) for term in row] for row in rows[:limit]]
    triples = list(islice(_grounds(store, query, patterns, columns, rows[:limit]), limit))
    return {"columns": columns, "rows": texts, "more": len(rows) > limit, "triples": triples}


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


def _grounds(
    store: Store, query: str, patterns: Sequence[Any], columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Iterator[tuple[str, ...]]:
    """Yields the triples of a query's pattern that lead to some rows, by a query that constructs them.

    Triples of blank nodes, such as ``[]``, and of paths over several relations are left out.
    """
    written = [triple for triple in patterns if all(isinstance(term, URIRef | Literal | Variable) for term in triple)]
    names = {str(term) for triple in written for term in triple if isinstance(term, Variable)}
    bound = [place for place, name in enumerate(columns) if name in names]
    values = " ".join(f"({' '.join(str(row[place] or 'UNDEF') for place in bound)})" for row in rows)
    if not written or not rows:
        return
    template = " . ".join(" ".join(term.n3() for term in triple) for triple in written)
    pattern = query[query.index("{") : query.rindex("}") + 1]
    given = f"VALUES ({' '.join(f'?{columns[place]}' for place in bound)}) {{ {values} }}" if bound else ""
    prologue = re.split(r"\b(?:SELECT|ASK)\b", query, maxsplit=1, flags=re.IGNORECASE)[0]
    construct = f"{prologue} CONSTRUCT {{ {template} }} WHERE {{ {pattern} {given} }}"
    with contextlib.suppress(SyntaxError):  # of a query whose pattern is not between its first and last brace
        constructed: Any = store.query(construct, prefixes=PREFIXES)
        for triple in sorted(set(constructed), key=str):
            if Quad(*triple) in store:
                yield from _directed(store, *triple)


def _directed(store: Store, subject: Any, predicate: Any, value: Any) -> Iterator[tuple[str, ...]]:
    """Yields a triple; in place of one of an edge's own resource, the edge from node to node and its property."""
    about = {quad.predicate: quad.object for quad in store.quads_for_pattern(subject, None, None)}
    triples = [(subject, predicate, value)]
    if EDGE_TYPE in about:
        triples = [(about[FROM], about[EDGE_TYPE], about[TO])]
        triples += [(about[FROM], predicate, value)] if predicate.value.startswith(PROPERTY) else []
    yield from (tuple(map(text_of, triple)) for triple in triples)


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


if __name__ == "__main__":
    main()
