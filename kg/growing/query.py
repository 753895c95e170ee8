"""Isolated execution of queries written by a language model, each in a process of its own.

    isolated_query(ntriples, "SELECT ?c WHERE { ?c a type:Company }", QueryLimits(seconds=2)).rows

The process has a copy of the graph in memory and reads nothing else: it knows neither the database nor the network.
Updates are not in its grammar, and it ends when the time is over, also where nobody stops it. Ctrl-C does not reach it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kg.errors import ConfigError, QueryError

_ROOT = Path(__file__).resolve().parents[2]
_LONGEST = 8_000
_START = 30.0
"""Seconds in which the process must start and load the graph; they do not count as the query's time."""


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


def isolated_query(facts: str, sparql: str, limits: QueryLimits) -> QueryResult:
    """Returns the rows of a SELECT, or the one row of an ASK.

    Args:
        facts: The graph as N-Triples.
        sparql: The query.
        limits: Its limits.

    Raises:
        QueryError: The query is too long or no reading query, cannot be parsed, or took too long.
    """
    if len(sparql) > _LONGEST:
        raise QueryError(f"the query is longer than {_LONGEST} characters")
    message = {"query": sparql, "start": _START, **asdict(limits)}
    slow = f"the query took longer than {limits.seconds:g} seconds and was stopped"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "kg.growing.query_worker"],
            input=f"{json.dumps(message)}\n{facts}".encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": str(_ROOT), "PATH": os.environ.get("PATH", ""), "PYTHONUTF8": "1"},
            start_new_session=True,  # a terminal sends Ctrl-C to all processes of a group
            timeout=_START + limits.seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise QueryError(slow) from error
    ending = signal.Signals(-done.returncode).name if done.returncode < 0 else f"exit code {done.returncode}"
    if ending == "SIGALRM":
        raise QueryError(slow)
    if ending in ("SIGKILL", "SIGABRT"):
        raise QueryError("the query needed more memory than it may take")
    if done.returncode:
        raise QueryError(f"the process of the query ended with {ending}")
    reply = json.loads(done.stdout)
    if "error" in reply:
        raise QueryError(f"the query cannot be answered: {reply['error']}")
    return QueryResult(tuple(reply["columns"]), tuple(map(tuple, reply["rows"])), bool(reply["more"]))
