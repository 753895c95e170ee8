"""Isolated queries shared by threads, and queries that are interrupted."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kg.growing.query import IsolatedReader, QueryLimits
from kg.growing.query_worker import GRACE

LIMITS = QueryLimits(seconds=20)


@pytest.fixture
def reader() -> IsolatedReader:
    return IsolatedReader(lambda: "")


def asked(reader: IsolatedReader, number: int) -> str:
    return str(reader.query(f"SELECT ?x WHERE {{ BIND({number} AS ?x) }}", LIMITS).rows[0][0])


def test_ten_threads_get_the_answers_to_their_own_queries(reader: IsolatedReader) -> None:
    with ThreadPoolExecutor(10) as threads:
        found = list(threads.map(lambda number: asked(reader, number), range(300)))
    assert found == [str(number) for number in range(300)]


def test_an_interrupted_query_leaves_no_answer_for_the_next(
    reader: IsolatedReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(reader, 1) == "1"

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(selectors.DefaultSelector, "select", interrupted)
        with pytest.raises(KeyboardInterrupt):
            asked(reader, 2)
    assert [asked(reader, number) for number in (3, 4)] == ["3", "4"]


def test_a_process_that_was_ended_between_queries_is_started_again(reader: IsolatedReader) -> None:
    assert asked(reader, 1) == "1"
    process = reader._process
    assert process is not None
    assert os.getpgid(process.pid) != os.getpgid(0)  # Ctrl-C of a terminal does not reach it
    process.kill()
    process.wait()
    assert asked(reader, 2) == "2"


def test_a_query_ends_without_the_process_that_asked_it() -> None:
    """After `kill -9` of the parent nobody stops its query."""
    facts = "".join(f"<http://a/{n}> <http://a/p> <http://a/{n + 1}> .\n" for n in range(300))
    counted = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(?a != ?l) }"
    messages = [{"load": facts}, {"id": 1, "query": counted, "limit": 1, "seconds": 0.3 - GRACE}]
    worker = subprocess.run(
        [sys.executable, "-m", "kg.growing.query_worker"],
        input="".join(json.dumps(message) + "\n" for message in messages).encode(),
        cwd=Path(__file__).parents[3],
        capture_output=True,
        timeout=60,
    )
    assert worker.returncode == -signal.SIGALRM
    assert worker.stdout == b""
