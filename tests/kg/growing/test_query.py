"""Isolated queries: each in a process of its own, which ends with its time, its memory or an interruption."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kg.errors import QueryError
from kg.growing.query import QueryLimits, isolated_query

LIMITS = QueryLimits(seconds=20)
FACTS = "".join(f"<http://a/{n}> <http://a/p> <http://a/{n + 1}> .\n" for n in range(300))
ENDLESS = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(?a != ?l) }"


def test_threads_get_the_answers_to_their_own_queries() -> None:
    def number(value: int) -> str:
        return str(isolated_query("", f"SELECT ?x WHERE {{ BIND({value} AS ?x) }}", LIMITS).rows[0][0])

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(number, range(6))) == [str(value) for value in range(6)]


def test_a_query_returns_at_most_its_rows_and_characters() -> None:
    result = isolated_query(FACTS, "SELECT ?s WHERE { ?s ?p ?o }", QueryLimits(rows=3))
    assert (len(result.rows), result.more) == (3, True)
    long = f'<http://a/s> <http://a/p> "{"x" * 600_000}" .\n'
    with pytest.raises(QueryError, match="select less"):
        isolated_query(long, "SELECT ?o ?o2 WHERE { ?s ?p ?o . ?s ?p ?o2 }", LIMITS)


def test_a_query_ends_without_the_process_that_started_it() -> None:
    """After `kill -9` of the parent nobody stops its query."""
    message = {"query": ENDLESS, "rows": 1, "seconds": 0.3, "start": 60, "matched": None}
    worker = subprocess.run(
        [sys.executable, "-m", "kg.growing.query_worker"],
        input=f"{json.dumps(message)}\n{FACTS}".encode(),
        cwd=Path(__file__).parents[3],
        capture_output=True,
        timeout=60,
    )
    assert worker.returncode == -signal.SIGALRM
    assert worker.stdout == b""
