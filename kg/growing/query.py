"""Isolated execution of queries written by a language model, in a process of their own.

    reader = IsolatedReader(lambda: ntriples)
    reader.query("SELECT ?c WHERE { ?c a type:Company }", QueryLimits(seconds=2)).rows

The process holds a copy of the graph in memory and reads nothing else: it knows neither the database nor the network.
Updates are not in its grammar, and it is killed when the time is over. After a change of the graph the next query
starts from a new copy. Threads may share a reader: it runs their queries one after the other. Ctrl-C does not reach the
reader, and it ends itself where nobody stops a query.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from kg.errors import ConfigError, QueryError

_ROOT = Path(__file__).resolve().parents[2]
_LONGEST = 8_000
_START = 30.0

_ENDING = 5.0
"""Seconds for a process whose output has ended to end itself."""


@dataclass(frozen=True)
class QueryLimits:
    """The limits of a query.

    Attributes:
        seconds: Wall time in seconds, above 0.
        rows: The most rows that are returned, at least 1; the result says whether there are more.
    """

    seconds: float = 5.0
    rows: int = 200

    def __post_init__(self) -> None:
        if self.seconds <= 0 or self.rows < 1:
            raise ConfigError(f"seconds must be above 0 and rows at least 1, got {self.seconds} and {self.rows}")


@dataclass(frozen=True)
class QueryResult:
    """The rows of a query: IRIs and literals as text, ``None`` where unbound.

    Attributes:
        columns: The variables.
        rows: At most as many as the limit allows.
        more: Whether the limit left rows out.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False


class IsolatedReader:
    """Runs reading queries over a copy of a graph; safe to share among threads.

    Args:
        dump: Returns the graph as N-Triples; it is called when a copy is needed.
    """

    def __init__(self, dump: Callable[[], str]) -> None:
        self._dump = dump
        self._lock = threading.RLock()
        self._numbers = count()
        self._process: subprocess.Popen[str] | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None
        self._unread = False  # whether a reply may wait in the pipe

    def query(self, sparql: str, limits: QueryLimits) -> QueryResult:
        """Returns the rows of a SELECT, or the one row of an ASK.

        Raises:
            QueryError: The query is too long or no reading query, cannot be parsed, or took too long.
        """
        return self._answered({"query": sparql, "limit": limits.rows}, limits)

    def matched(self, sparql: str, found: QueryResult, limits: QueryLimits) -> list[tuple[str, str, str]]:
        """Returns the triples of a query's pattern that led to its rows.

        Raises:
            QueryError: As :meth:`query` does.
        """
        rows = [list(row) for row in found.rows]
        message = {"query": sparql, "limit": limits.rows, "matched": {"columns": list(found.columns), "rows": rows}}
        return [(row[0], row[1], row[2]) for row in self._answered(message, limits).rows]

    def _answered(self, message: dict[str, Any], limits: QueryLimits) -> QueryResult:
        if len(message["query"]) > _LONGEST:
            raise QueryError(f"the query is longer than {_LONGEST} characters")
        with self._lock:
            try:
                # A second Ctrl-C may have stopped the closing after the first.
                if self._unread or self._process is None or self._process.poll() is not None:
                    self.close()
                    self._start()
                self._unread = True
                reply = self._exchange(message, limits.seconds)
                self._unread = False
            except BaseException:  # an unread reply, after Ctrl-C too, would be taken for the next query's
                self.close()
                raise
        if "error" in reply:
            raise QueryError(f"the query cannot be answered: {reply['error']}")
        return QueryResult(tuple(reply["columns"]), tuple(map(tuple, reply["rows"])), bool(reply["more"]))

    def close(self) -> None:
        """Ends the process, if there is one; the next query starts another with the graph of that moment."""
        with self._lock:
            if self._finalizer is not None:
                self._finalizer()
            self._process = self._finalizer = None
            self._unread = False

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
            start_new_session=True,  # a terminal sends Ctrl-C to all processes of a group
        )
        self._process = process
        self._finalizer = weakref.finalize(self, _end, process)
        self._send({"load": self._dump()})
        self._exchange({"query": "ASK {}", "limit": 1}, _START)  # starting and loading do not count as the query's time

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise QueryError(f"the process that runs queries has ended: {error}") from error

    def _reason(self) -> str:
        """The end of the process in words. It ends itself where a query takes too much memory or time."""
        assert self._process is not None
        code = self._process.wait(_ENDING)
        if code == -signal.SIGALRM:
            return "since the query took too long"
        if -code in (signal.SIGKILL, signal.SIGABRT):
            return "since the query needed more memory than it may take"
        return f"with {'the signal ' + signal.Signals(-code).name if code < 0 else f'exit code {code}'}"

    def _exchange(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        assert self._process is not None
        number = next(self._numbers)
        self._send({"id": number, "seconds": seconds, **message})
        output = self._process.stdout
        assert output is not None
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            if not selector.select(seconds):
                raise QueryError(f"the query took longer than {seconds:g} seconds and was stopped")
        line = output.readline()
        if not line:
            raise QueryError(f"the process that runs queries has ended {self._reason()}")
        reply: dict[str, Any] = json.loads(line)
        if reply["id"] != number:
            raise QueryError("the process that runs queries answered another query")
        return reply


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:  # unsent text to a process that is gone
                continue
