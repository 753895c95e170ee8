"""The process that runs queries written by a language model over a copy of a graph.

Started by :mod:`kg.growing.query` as ``python -m kg.growing.query_worker``. It reads one JSON object a line: ``{"load":
N-Triples}`` once, then ``{"id": number, "query": SPARQL, "limit": rows}``. It answers each query with one line that
repeats the number.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from pyoxigraph import Literal, QueryBoolean, QuerySolutions, RdfFormat, Store
from rdflib.plugins.sparql.parser import parseQuery

from kg.growing.terms import PREFIXES

MEMORY = 4 * 1024**3
"""The most bytes that the process may map, where the system can limit it."""

MOST_CHARACTERS = 1_000_000
"""Characters of all rows of an answer."""

_DECLARED = "".join(f"PREFIX {name}: <{namespace}>\n" for name, namespace in PREFIXES.items())


def main() -> None:
    """Answers queries until the input ends."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    store = Store()
    for line in sys.stdin:
        message = json.loads(line)
        if "load" in message:
            store.load(message["load"].encode(), format=RdfFormat.N_TRIPLES)
            continue
        try:
            answer = _answer(store, message["query"], message["limit"])
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            answer = {"error": str(error) or type(error).__name__}
        except Exception as error:  # noqa: BLE001 - the parser's own errors; the parent raises this text
            answer = {"error": f"the query cannot be parsed: {error}"}
        sys.stdout.write(json.dumps({"id": message["id"], **answer}) + "\n")
        sys.stdout.flush()


def _answer(store: Store, query: str, limit: int) -> dict[str, Any]:
    kinds = set(_names(parseQuery(_DECLARED + query)))
    if "ServiceGraphPattern" in kinds:
        raise ValueError("SERVICE is not allowed: a query reads this graph alone")
    if not kinds & {"SelectQuery", "AskQuery"}:
        raise ValueError("only SELECT and ASK are allowed")
    found = store.query(query, prefixes=PREFIXES)
    if isinstance(found, QueryBoolean):
        return {"columns": ["answer"], "rows": [[bool(found)]], "more": False}
    assert isinstance(found, QuerySolutions)
    columns = [variable.value for variable in found.variables]
    rows: list[list[Any]] = []
    size = 0
    for row in islice(found, limit + 1):
        rows.append([_plain(row[name]) for name in columns])
        size += sum(len(value) for value in rows[-1] if value is not None)
        if size > MOST_CHARACTERS:
            raise ValueError(f"the rows have more than {MOST_CHARACTERS} characters: select less")
    return {"columns": columns, "rows": rows[:limit], "more": len(rows) > limit}


def _names(parsed: Any) -> Iterator[str]:
    """Yields the names of all parts of a parsed query."""
    name = getattr(parsed, "name", None)
    if isinstance(name, str):
        yield name
    if isinstance(parsed, dict):
        for value in parsed.values():
            yield from _names(value)
    elif isinstance(parsed, list | tuple) or type(parsed).__name__ in ("ParseResults", "plist"):
        for value in parsed:
            yield from _names(value)


def _plain(term: Any) -> Any:
    """Returns a term as text: an IRI whole, a literal's value."""
    return None if term is None else term.value if isinstance(term, Literal) else getattr(term, "value", str(term))


if __name__ == "__main__":
    main()
