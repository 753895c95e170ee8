"""Processes that are killed while they write: what was acknowledged is there, and nothing is half.

`make test` kills a few, `make attack` hundreds; FINPATH_KILLS is the number of each kind.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.evaluation.journal import Journal
from experiments.saved import load_program
from kg.files import replacing
from kg.graphs import GraphIndex
from kg.growing import GrowingGraph, QueryLimits, TypeProposals
from tests.attacks.figures import figures_of, is_done, write_figures

ROUNDS = int(os.environ.get("FINPATH_KILLS", "2"))
"""Kills of each kind."""

MANY = 10
"""Kills from which the moments are others each time."""

LONGEST = 0.3
"""Seconds within which a writer is killed."""

ROOT = Path(__file__).parents[2]


class _Starter:
    """Starts and kills writers."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.attacks.writers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            text=True,
        )

    def kill_one(self, kind: str, folder: Path, seconds: float) -> int:
        """Kills a writer some time after its first write; returns the last number that it acknowledged."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([kind, str(folder)]) + "\n")
        self.process.stdin.flush()
        last, writer, killed = -1, 0, False
        for line in self.process.stdout:
            if line == "end\n":
                assert killed, f"the writer of {kind} ended by itself after {last}"
                return last
            if line.startswith("process "):
                writer = int(line.removeprefix("process "))
            else:
                last = int(line)
            if writer and last >= 0 and not killed:
                time.sleep(seconds)
                os.kill(writer, signal.SIGKILL)
                killed = True
        raise AssertionError("the process that starts writers has ended")

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def starter() -> Iterator[_Starter]:
    started = _Starter()
    yield started
    started.close()


def _check_file(folder: Path, last: int) -> None:
    numbers = (folder / "a.json").read_text(encoding="utf-8").split()
    assert len(numbers) == 5_000
    assert len(set(numbers)) == 1
    assert int(numbers[0]) >= last
    for left in folder.iterdir():
        os.utime(left, (1, 1))
    with replacing(folder / "a.json") as file:
        file.write(b"0")
    assert [path.name for path in folder.iterdir()] == ["a.json"]


def _check_index(folder: Path, last: int) -> None:
    assert len(GraphIndex.load(folder / "a.npz")) in (500, 501)


def _check_journal(folder: Path, last: int) -> None:
    lines = Journal(folder / "a.jsonl").read()
    assert [line["n"] for line in lines] == list(range(len(lines)))
    assert len(lines) > last


def _check_accept(folder: Path, last: int) -> None:
    with GrowingGraph(folder / "g") as graph:
        held = {kind.name for kind in graph.schema.types}
        assert not held & {kind.name for kind in TypeProposals(graph).pending()}


def _check_facts(folder: Path, last: int) -> None:
    with GrowingGraph(folder / "g") as graph:
        query = "SELECT ?n WHERE { ?c a type:Company ; rdfs:label ?n }"
        rows = graph.query(query, QueryLimits(seconds=60, rows=100_000)).rows
    found = {str(name) for (name,) in rows}
    batches = [{f"Firm {number} {part}" for part in ("one", "two", "three")} for number in range(last + 2)]
    assert all(batch <= found for batch in batches[: last + 1])
    assert all(batch <= found or not batch & found for batch in batches)


def _check_program(folder: Path, last: int) -> None:
    assert load_program(folder / "p").program is not None


CHECKS: dict[str, Callable[[Path, int], None]] = {
    "file": _check_file,
    "index": _check_index,
    "journal": _check_journal,
    "schema accept": _check_accept,
    "facts": _check_facts,
    "saved program": _check_program,
}


@pytest.mark.parametrize("kind", CHECKS)
def test_a_killed_process_loses_nothing(tmp_path: Path, starter: _Starter, kind: str) -> None:
    name = f"kills, {kind}"
    known = figures_of(name).get("tries", 0)
    if is_done(name, ROUNDS):
        pytest.skip("has its figures")
    chance = random.Random(5 if ROUNDS < MANY else None)
    for number in range(known, ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        last = starter.kill_one(kind, folder, chance.random() * LONGEST)
        CHECKS[kind](folder, last)
        shutil.rmtree(folder)
        write_figures(name, {"tries": number + 1, "failed": 0})
