"""Writers that are killed: each writes without end, and reports a number once what it stands for is written.

As a program it starts a writer for each line of its input, ``["index", "/tmp/folder"]``, in a process of its own. So
the libraries are loaded once for hundreds of kills.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

from experiments.evaluation.journal import Journal
from experiments.saved import Origin, save_program
from kg.files import replacing
from kg.graphs import GraphIndex
from kg.growing import AddNode, GrowingGraph, TypeProposals
from kg.growing import Origin as FactOrigin
from kg.investments import investment_schema
from kg.ontology import build_ontology
from kg.reports import Report
from kg.schema import NodeType
from programs.conversation import ConversationQA

_LETTERS, _VOWELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "aeiou"
REPORT = Report("r", ("sales rose .",), (("", "2009"), ("net sales", "5"), ("costs", "3")), ())


def _done(number: int) -> None:
    os.write(1, b"%d\n" % number)


def _name(number: int) -> str:
    return "".join(_LETTERS[number // 26**place % 26] + _VOWELS[place] for place in range(4))


def _file(folder: Path) -> None:
    for number in count():
        with replacing(folder / "a.json") as file:
            file.write((str(number) + " ").encode() * 5_000)
        _done(number)


def _index(folder: Path) -> None:
    made = [GraphIndex.from_triples([("a", "p", str(n)) for n in range(size)]) for size in (500, 501)]
    for number in count():
        made[number % 2].save(folder / "a.npz")
        _done(number)


def _journal(folder: Path) -> None:
    journal = Journal(folder / "a.jsonl")
    for number in count():
        journal.append({"kind": "turn", "n": number, "text": "x" * 3_000})
        _done(number)


def _accept(folder: Path) -> None:
    with GrowingGraph(folder / "g") as graph:
        for number in count():
            kind = NodeType(_name(number), f"{_name(number)} x", {"type": "object", "properties": {}}, {}, "user")
            proposals = TypeProposals(graph, "review")
            try:
                proposals.propose(kind)
                proposals.accept(kind.name)
            except Exception:  # noqa: BLE001 - a name that is like an earlier one
                continue
            _done(number)


def _facts(folder: Path) -> None:
    with GrowingGraph(folder / "g", investment_schema()) as graph:
        for number in count():
            names = (f"Firm {number} {part}" for part in ("one", "two", "three"))
            updates = [AddNode("Company", name, {"country": "USA"}) for name in names]
            graph.apply(updates, FactOrigin("x"))
            _done(number)


def _program(folder: Path) -> None:
    program = ConversationQA.unfitted(build_ontology([REPORT], min_reports=1))
    for number in count():
        save_program(program, folder / "p", Origin())
        _done(number)


WRITERS: dict[str, Callable[[Path], None]] = {
    "file": _file,
    "index": _index,
    "journal": _journal,
    "schema accept": _accept,
    "facts": _facts,
    "saved program": _program,
}


def main() -> None:
    """Starts a writer for each line of the input, says its process, and waits for its end."""
    for line in sys.stdin:
        kind, folder = json.loads(line)
        process = os.fork()
        if process == 0:
            try:
                WRITERS[kind](Path(folder))
            finally:
                os._exit(1)
        os.write(1, b"process %d\n" % process)
        os.waitpid(process, 0)
        os.write(1, b"end\n")


if __name__ == "__main__":
    main()
