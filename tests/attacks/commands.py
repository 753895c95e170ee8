"""Commands that are killed at random moments, with a check of what is left.

    python -m tests.attacks.commands promote 20             # 20 kills of `finpath promote`
    python -m tests.attacks.commands "first run" 20 2       # 20 times Ctrl-C

The libraries are loaded once: each command runs in a fork, in a folder of its own. The moment is anywhere between the
start of the command and the end that an undisturbed one takes. Prints the kills, those before the end, and the losses.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

RUN = ["evaluate", "beam", "--data", "sample:dev", "--limit", "1"]
NEWS = """Headline: Quellan buys Sarnath
Source: Port Courier
Date: 2026-11-02

Quellan Systems Corp. (NASDAQ: QLLN) agreed to acquire Sarnath Optics Inc. for $2.4 billion in cash.
"""
TRIPLES = "".join(f"film {n}\tdirected_by\tperson {n % 97}\n" for n in range(20_000))


@dataclass(frozen=True)
class Kind:
    """A command.

    Attributes:
        make: Makes what is there before it.
        arguments: Its arguments.
        check: Raises where something is lost; runs in the folder.
        typed: Its standard input.
    """

    make: Callable[[], None]
    arguments: Sequence[str]
    check: Callable[[], None]
    typed: str = ""


def _finpath(arguments: Sequence[str], typed: str = "") -> int:
    from experiments.commands.main import main

    sys.stdin = io.StringIO(typed)
    return main(list(arguments))


def _made(arguments: Sequence[str], typed: str = "") -> None:
    code = _finpath(arguments, typed)
    if code != 0:
        raise RuntimeError(f"finpath {' '.join(arguments)} ended with {code}")


def _check_first_run() -> None:
    _made(RUN)


def _make_runs() -> None:
    _made([*RUN, "--run-name", "one"])
    _made([*RUN, "--run-name", "two", "--seed", "1"])


def _check_promoted() -> None:
    from experiments.tracking import Tracker, TrackingConfig

    tracker = Tracker(TrackingConfig.from_environment())
    for name in ("one", "two"):
        status = tracker.find(name).status
        if status != "FINISHED":
            raise RuntimeError(f"the evaluation {name} is {status}")
    _made(["compare", "one", "two"])
    _made(["promote", "two", "--against", "one", "--force"])


def _make_pending() -> None:
    from kg.growing import GrowingGraph, TypeProposals
    from kg.investments import investment_schema
    from kg.schema import NodeType

    rules = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    with GrowingGraph("g", investment_schema()) as graph:
        for name in ("Regulation", "Harbour"):
            kind = NodeType(name, f"A {name.lower()} that is named.", rules, {"name": "x"}, "agent", None, 1, "new")
            TypeProposals(graph, "review").propose(kind)


def _check_accepted() -> None:
    from kg.growing import GrowingGraph

    with GrowingGraph("g") as graph:
        held, waiting = ({kind.name for kind in one.types} for one in (graph.schema, graph.proposed))
    if ("Regulation" in held) == ("Regulation" in waiting) or "Harbour" not in waiting:
        raise RuntimeError(f"held {'Regulation' in held}, waiting {waiting}")
    if "Regulation" in waiting:
        _made(["schema", "accept", "Regulation", "--graph", "g"])


def _make_saved() -> None:
    Path("r.csv").write_text("item,2009,2008\nnet sales,206588,181001\n", encoding="utf-8")
    _made(["chat", "r.csv"], "what were net sales in 2009?\n/save talk.json\n")


def _check_saved() -> None:
    turns = len(json.loads(Path("talk.json").read_text(encoding="utf-8"))["turns"])
    if turns not in (1, 3):
        raise RuntimeError(f"the saved conversation has {turns} turns")
    _made(["chat", "r.csv", "--load", "talk.json"], "and in 2008?\n")


def _make_news() -> None:
    Path("a.txt").write_text(NEWS, encoding="utf-8")
    Path("b.txt").write_text(NEWS.replace("Quellan", "Brennic").replace("QLLN", "BRNC"), encoding="utf-8")
    _made(["advisor", "ingest", "a.txt", "b.txt", "--graph", "whole"])


def _check_news() -> None:
    from kg.growing import GrowingGraph

    _made(["advisor", "ingest", "a.txt", "b.txt", "--graph", "g"])
    found = []
    for name in ("g", "whole"):
        with GrowingGraph(name) as graph:
            found.append(({node.key for node in graph.nodes()}, sum(1 for _ in graph.edges()), len(graph.history())))
    if found[0] != found[1]:
        raise RuntimeError(f"the graphs differ: {found[0][1:]} and {found[1][1:]}")


KINDS = {
    "first run": Kind(lambda: None, RUN, _check_first_run),
    "promote": Kind(_make_runs, ["promote", "two", "--against", "one", "--force"], _check_promoted),
    "schema accept": Kind(_make_pending, ["schema", "accept", "Regulation", "--graph", "g"], _check_accepted),
    "chat save": Kind(
        _make_saved,
        ["chat", "r.csv"],
        _check_saved,
        "what were net sales in 2008?\nand in 2009?\nwhat was the change?\n/save talk.json\n",
    ),
    "ingest": Kind(_make_news, ["advisor", "ingest", "a.txt", "b.txt", "--graph", "g"], _check_news),
}


def _forked(folder: Path, work: Callable[[], None], log: Path) -> int:
    """Starts work in a fork whose output goes to a file; returns the process."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        os.environ["FINPATH_CACHE"] = str(folder / "cache")
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(written, 1)
        os.dup2(written, 2)
        work()
        code = 0
    except BaseException as error:  # noqa: BLE001 - the log tells
        os.write(2, f"\n!! {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def _waited(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def attack(name: str, rounds: int, number: int = signal.SIGKILL, seed: int | None = None) -> dict[str, int]:
    """Kills a command again and again; returns the kills, those that were early enough, and the losses."""
    kind, chance = KINDS[name], random.Random(seed)
    with tempfile.TemporaryDirectory() as top:
        base, log = Path(top) / "base", Path(top) / "log"
        base.mkdir()
        if _waited(_forked(base, kind.make, log)) != 0:
            raise RuntimeError(log.read_text(errors="replace")[-2_000:])
        longest = 0.0
        figures = {"tries": 0, "in time": 0, "failed": 0}
        for place in range(-1, rounds):
            folder = Path(top) / str(place)
            shutil.copytree(base, folder)
            started = time.monotonic()
            process = _forked(folder, lambda: _made(kind.arguments, kind.typed), log)
            if place >= 0:
                time.sleep(chance.random() * longest)
                os.kill(process, number)
            code = _waited(process)
            if place < 0:
                longest = time.monotonic() - started
                continue
            figures["tries"] += 1
            figures["in time"] += code != 0
            log.unlink()
            if _waited(_forked(folder, kind.check, log)) != 0:
                figures["failed"] += 1
                print(f"{name}, {place}: {log.read_text(errors='replace')[-1_000:]}", flush=True)
            shutil.rmtree(folder)
    return figures


def main() -> None:
    """Kills the command of the first argument as often as the second says, by the signal of the third."""
    name, rounds, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else signal.SIGKILL
    for module in ("mlflow", "dspy", "experiments.evaluation", "experiments.tasks", "experiments.tracking"):
        __import__(module)
    print(f"{name}: {attack(name, rounds, number)}")


if __name__ == "__main__":
    main()
