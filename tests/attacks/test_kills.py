"""Processes that are killed while they write: what was acknowledged is there, and nothing is half."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.evaluation.journal import Journal
from kg.files import replacing
from kg.graphs import GraphIndex
from kg.growing import GrowingGraph, TypeProposals

ROUNDS = max(2, int(os.environ.get("FINPATH_ATTACKS", "8")) // 40)
"""Kills of each kind."""

TRIPLES = [("a", "p", str(number)) for number in range(500)]

FILE = """
    from kg.files import replacing
    for number in range(1_000_000):
        with replacing(folder / "a.json") as file:
            file.write((str(number) + " ") .encode() * 5_000)
        print(number, flush=True)
"""
INDEX = """
    from kg.graphs import GraphIndex
    made = [GraphIndex.from_triples([("a", "p", str(n)) for n in range(size)]) for size in (500, 501)]
    for number in range(1_000_000):
        made[number % 2].save(folder / "a.npz")
        print(number, flush=True)
"""
JOURNAL = """
    from experiments.evaluation.journal import Journal
    journal = Journal(folder / "a.jsonl")
    for number in range(1_000_000):
        journal.append({"kind": "turn", "n": number, "text": "x" * 3_000})
        print(number, flush=True)
"""
ACCEPT = """
    from kg.growing import GrowingGraph, NodeType, TypeProposals
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    with GrowingGraph(folder / "g") as graph:
        for number in range(10_000):
            name = "".join(letters[number // 26**place % 26] + "aeiou"[place] for place in range(4))
            kind = NodeType(name, f"{name} {name}x", {"type": "object", "properties": {}}, {}, "user")
            proposals = TypeProposals(graph, "review")
            try:
                proposals.propose(kind)
                proposals.accept(name)
            except Exception:
                continue
            print(number, flush=True)
"""


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
    assert last >= 0
    assert len(GraphIndex.load(folder / "a.npz")) in (500, 501)


def _check_journal(folder: Path, last: int) -> None:
    lines = Journal(folder / "a.jsonl").read()
    assert [line["n"] for line in lines] == list(range(len(lines)))
    assert len(lines) > last


def _check_accept(folder: Path, last: int) -> None:
    assert last >= 0
    with GrowingGraph(folder / "g") as graph:
        held = {kind.name for kind in graph.schema.types}
        assert not held & {kind.name for kind in TypeProposals(graph).pending()}


@pytest.mark.parametrize(
    ("code", "check"),
    [(FILE, _check_file), (INDEX, _check_index), (JOURNAL, _check_journal), (ACCEPT, _check_accept)],
    ids=["file", "index", "journal", "schema accept"],
)
def test_a_killed_process_loses_nothing(tmp_path: Path, code: str, check: Callable[[Path, int], None]) -> None:
    chance = random.Random(5)
    root = Path(__file__).parents[2]
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        whole = f"from pathlib import Path\nfolder = Path({json.dumps(str(folder))})\n{textwrap.dedent(code)}"
        environment = {**os.environ, "PYTHONPATH": str(root)}
        with subprocess.Popen([sys.executable, "-c", whole], stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None
            last = int(process.stdout.readline())
            time.sleep(chance.random() * 0.3)
            process.send_signal(signal.SIGKILL)
            last = max([last, *(int(line) for line in process.stdout.read().split(b"\n")[:-1])])
        check(folder, last)
