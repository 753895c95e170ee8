"""Work in a process of its own, with limits of time and memory: a place drawn on a page of a PDF file, a SPARQL query.

>>> json.loads(work("sparql", {"query": "ASK { ?s ?p ?o }", "rows": 10}, b"<urn:a> <urn:b> <urn:c> ."))["rows"]
[{'answer': 'yes'}]

The process of a query has a copy of the graph. It reads nothing else, and ends when its time is over, also where nobody
stops it. Updates are not in its grammar.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from kg.errors import QueryError

SECONDS, MEMORY = 30, 4 * 1024**3
"""The most seconds that a process may take, and bytes that it may map, where the system limits them."""

MOST_BYTES = 4_000_000
"""Bytes of the answer to a query."""

AROUND, WIDEST, RESOLUTION = 130, 1400, 110
"""Points above and below a place on a page; pixels of a picture's width at the most, and of an inch."""

_ROOT = str(Path(__file__).resolve().parents[2])
_TOO_MUCH = "it took more time or memory than it may take, and was stopped"


def work(task: str, message: Mapping[str, Any], data: bytes = b"") -> bytes:
    """Returns the output of a task.

    Args:
        task: ``sheet`` or ``sparql``.
        message: Its arguments.
        data: Its input; the graph of a query as Turtle.

    Raises:
        QueryError: It cannot be done, or took too much time or memory.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", "experiments.ui.worker", task],
            input=json.dumps(message).encode() + b"\n" + data,
            capture_output=True,
            env={"PYTHONPATH": _ROOT, "PATH": os.environ.get("PATH", ""), "PYTHONUTF8": "1"},
            start_new_session=True,  # a terminal sends Ctrl-C to all processes of a group
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise QueryError(_TOO_MUCH) from error
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines() if done.returncode == 1 else []
        raise QueryError(reason[-1] if reason else _TOO_MUCH)
    return done.stdout


def draw_sheet(message: Mapping[str, Any], _: bytes) -> bytes:
    """The part of a page around a place, which has a frame, as PNG."""
    import pdfplumber

    left, top, right, bottom = message["box"]
    with pdfplumber.open(message["file"], pages=[message["page"]]) as document:
        page = document.pages[0]
        box = (page.bbox[0], max(page.bbox[1], top - AROUND), page.bbox[2], min(page.bbox[3], bottom + AROUND))
        picture = page.crop(box).to_image(resolution=min(RESOLUTION, 72 * WIDEST / float(page.width)))
        picture.draw_rect((left - 3, top - 2, right + 3, bottom + 2), (255, 200, 0, 70), (29, 95, 168), 2)
        out = io.BytesIO()
        picture.save(out, format="PNG")
    return out.getvalue()


def answer_query(message: Mapping[str, Any], facts: bytes) -> bytes:
    """The first rows of a SELECT, or the answer of an ASK, as JSON.

    Raises:
        ValueError: The query does not only read this graph.
        SyntaxError: It cannot be parsed.
    """
    from pyoxigraph import QueryBoolean, QuerySolutions, RdfFormat, Store
    from rdflib.plugins.sparql.algebra import traverse
    from rdflib.plugins.sparql.parser import parseQuery

    kinds: set[str] = set()
    traverse(parseQuery(message["query"]), visitPre=lambda part: kinds.add(getattr(part, "name", "")))
    if "ServiceGraphPattern" in kinds:
        raise ValueError("SERVICE is not allowed: a query reads this graph alone")
    store = Store()
    store.load(facts, format=RdfFormat.TURTLE)
    result = store.query(message["query"])
    if isinstance(result, QueryBoolean):
        return json.dumps({"rows": [{"answer": "yes" if result else "no"}], "more": False}).encode()
    if not isinstance(result, QuerySolutions):
        raise ValueError("only SELECT and ASK are allowed")
    names, most = [variable.value for variable in result.variables], message["rows"]
    rows = [{name: getattr(row[name], "value", None) for name in names} for row in islice(result, most + 1)]
    answer = json.dumps({"rows": rows[:most], "more": len(rows) > most}).encode()
    if len(answer) > MOST_BYTES:
        raise ValueError(f"the rows have more than {MOST_BYTES} bytes: select less")
    return answer


def main() -> None:
    """Does one task; the last line of standard error is the reason of a failure."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    message = json.loads(sys.stdin.buffer.readline())
    task = {"sheet": draw_sheet, "sparql": answer_query}[sys.argv[1]]
    try:
        sys.stdout.buffer.write(task(message, sys.stdin.buffer.read()))
    except Exception as error:  # noqa: BLE001 - the process that waits reports it
        sys.exit(" ".join(f"{error or type(error).__name__}".split()))


if __name__ == "__main__":
    main()
