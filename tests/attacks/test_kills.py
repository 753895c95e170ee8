"""A writer of a growing graph that is killed: what was acknowledged is there, and no update is half."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kg.growing import GrowingGraph, QueryLimits

WRITER = """
import sys
from itertools import count
from kg.growing import AddNode, GrowingGraph, Origin
from kg.investments import investment_schema

with GrowingGraph(sys.argv[1], investment_schema()) as graph:
    for number in count():
        names = [f"Firm {number} {part}" for part in ("one", "two", "three")]
        graph.apply([AddNode("Company", name, {"country": "USA"}) for name in names], Origin("x"))
        print(number, flush=True)
"""


@pytest.mark.parametrize("seconds", [0.0, 0.17])
def test_a_killed_writer_loses_nothing(tmp_path: Path, seconds: float) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "g")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        last = int((process.stdout.read().split() or ["0"])[-1])
    assert process.returncode == -signal.SIGKILL
    with GrowingGraph(tmp_path / "g") as graph:
        query = "SELECT ?n WHERE { ?c a type:Company ; rdfs:label ?n }"
        names = {str(name) for (name,) in graph.query(query, QueryLimits(seconds=60, rows=100_000)).rows}
    batches = [{f"Firm {number} {part}" for part in ("one", "two", "three")} for number in range(last + 2)]
    assert all(batch <= names for batch in batches[: last + 1])
    assert all(batch <= names or not batch & names for batch in batches)
