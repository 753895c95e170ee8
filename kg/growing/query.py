"""Queries that are written by a language model, run in a process of their own.

    reader = IsolatedReader(lambda: ntriples)
    reader.query("SELECT ?c WHERE { ?c a type:Company }", QueryLimits(seconds=2)).rows

The process holds a copy of the graph in memory. It may read only that copy: it knows neither the database nor the
network, an update is not in its grammar, and when the time is over it is killed. After the graph has changed, the
next query starts from a new copy.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.errors import ConfigError, QueryError

_ROOT = Path(__file__).resolve().parents[2]
_LONGEST = 8_000
_START = 30.0


@dataclass(frozen=True)
class QueryLimits:
    """What a query may take.

    Attributes:
        seconds: Of wall time, above 0.
        rows: At the most, at least 1; the result says whether there were more.
    """

    seconds: float = 5.0
    rows: int = 200

    def __post_init__(self) -> None:
        if self.seconds <= 0 or self.rows < 1:
            raise ConfigError(f"seconds must be above 0 and rows at least 1, got {self.seconds} and {self.rows}")


@dataclass(frozen=True)
class QueryResult:
    """The rows of a query: IRIs and literals as text; ``None`` where unbound.

    Attributes:
        columns: The variables.
        rows: At most as many as the limit.
        more: Whether there are more than the limit.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False


class IsolatedReader:
    """Runs reading queries over a copy of a graph.

    Args:
        dump: Gives the graph as N-Triples; called when a copy is needed.
    """

    def __init__(self, dump: Callable[[], str]) -> None:
        self._dump = dump
        self._process: subprocess.Popen[str] | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None

    def query(self, sparql: str, limits: QueryLimits) -> QueryResult:
        """The rows of a SELECT, or the one row of an ASK.

        Raises:
            QueryError: The query is too long or no reading query, cannot be parsed, or took too long.
        """
        if len(sparql) > _LONGEST:
            raise QueryError(f"the query is longer than {_LONGEST} characters")
        if self._process is None:
            self._start()
        reply = self._exchange({"query": sparql, "limit": limits.rows}, limits.seconds)
        if "error" in reply:
            raise QueryError(f"the query cannot be answered: {reply['error']}")
        return QueryResult(tuple(reply["columns"]), tuple(map(tuple, reply["rows"])), bool(reply["more"]))

    def close(self) -> None:
        """Ends the process, if there is one; the next query starts another, with the graph as it is then."""
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = None

    def _start(self) -> None:
        environment = {"PYTHONPATH": str(_ROOT), "PATH": os.environ.get("PATH", ""), "PYTHONUTF8": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "kg.growing.query_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        self._process = process
        self._finalizer = weakref.finalize(self, _end, process)
        self._send({"load": self._dump()})
        self._exchange({"query": "ASK {}", "limit": 1}, _START)  # the time to start and load is not the query's

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            self.close()
            raise QueryError(f"the process that runs queries has ended: {error}") from error

    def _exchange(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        assert self._process is not None
        self._send(message)
        output = self._process.stdout
        assert output is not None
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            if not selector.select(seconds):
                self.close()
                raise QueryError(f"the query took longer than {seconds:g} seconds and was stopped")
        line = output.readline()
        if not line:
            self.close()
            raise QueryError("the query needed more memory than it may take")
        reply: dict[str, Any] = json.loads(line)
        return reply


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:  # what was still to be sent to a process that is gone
                continue
