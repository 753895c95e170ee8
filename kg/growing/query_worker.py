"""The process that runs a query written by a language model over a copy of a graph.

Started by :mod:`kg.growing.query` as ``python -m kg.growing.query_worker``. It reads one line of JSON, ``{"query":
SPARQL, "rows": limit, "seconds": time, "start": seconds to load}``, and then the graph as N-Triples. It writes
the rows as JSON. An alarm ends it after its time, also in the middle of a call.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from itertools import islice
from typing import Any

from pyoxigraph import QueryBoolean, QuerySolutions, RdfFormat, Store
from rdflib.plugins.sparql.algebra import traverse
from rdflib.plugins.sparql.parser import parseQuery

from kg.graphs import is_parse_error
from kg.growing.terms import PREFIXES, text_of

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
    _check(query)
    found = store.query(query, prefixes=PREFIXES)
    if isinstance(found, QueryBoolean):
        return {"columns": ["answer"], "rows": [[bool(found)]], "more": False}
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
    return {"columns": columns, "rows": texts, "more": len(rows) > limit}


def _check(query: str) -> None:
    """Raises ValueError where a query does not only read this graph."""
    parsed = parseQuery(_DECLARED + query)
    kinds: set[str] = set()
    traverse(parsed, visitPre=lambda part: kinds.add(getattr(part, "name", "")))
    if "ServiceGraphPattern" in kinds:
        raise ValueError("SERVICE is not allowed: a query reads this graph alone")
    if not kinds & {"SelectQuery", "AskQuery"}:
        raise ValueError("only SELECT and ASK are allowed")


if __name__ == "__main__":
    main()
