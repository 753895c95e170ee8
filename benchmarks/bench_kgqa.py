"""Speed of answers to entity questions, compared with what is in use elsewhere. Run by hand, not by the tests::

    python benchmarks/bench_kgqa.py compare PROGRAM --graph metaqa/kb.txt --questions metaqa/3hop_dev.txt

Times are those of the processor, one core, so that other work on the machine does not count. ``compare`` answers the
same questions with each system in a process of its own, so that memory can be told apart:

- ``finpath``: the beam with the learned scorer of PROGRAM.
- ``breadth-first + trie``: all simple paths of up to three steps from the topic, and the trie of their tokens, as
  graph-constrained decoding builds its index. Tokens are words and marks, which is kinder to it than a model's pieces.
- ``networkx + trie``: the same with networkx's ``all_simple_edge_paths``.
- ``oxigraph, any path``, ``rdflib, any path``: a SPARQL property path over all relations, three steps from the topic.
- ``oxigraph, given path``, ``rdflib, given path``: a SPARQL graph pattern along the relations that finpath chose; what
  it costs to choose them is not in the time.

Recall is the share of the gold answers among all that a system's paths reach, for finpath also among the answers that
it chooses.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.console import format_table  # noqa: E402
from experiments.data import FileGraph, load_questions  # noqa: E402
from experiments.saved import load_program  # noqa: E402
from kg.graphs.index import GraphIndex  # noqa: E402
from kg.paths.space import EntitySpace, answer_question  # noqa: E402

SLOW = {"rdflib, any path": 2}
"""Of how many questions a system that takes minutes for one gets the first ones."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_STEPS = 3
Task = dict[str, Any]
Answer = Callable[[Task], set[str]]


def main() -> None:
    """Runs one benchmark and prints its figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    compare = actions.add_parser("compare")
    compare.add_argument("program")
    compare.add_argument("--graph", required=True)
    compare.add_argument("--questions", required=True)
    compare.add_argument("--format", default="metaqa")
    compare.add_argument("--limit", type=int, default=20)
    compare.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    compare.set_defaults(run=run_compare)
    one = actions.add_parser("one", help="one system, in this process; used by compare")
    one.add_argument("system", choices=list(SYSTEMS))
    one.add_argument("graph")
    one.add_argument("tasks")
    one.add_argument("program")
    one.set_defaults(run=run_one)
    options = parser.parse_args()
    print(json.dumps(options.run(options), indent=2))


def run_compare(options: argparse.Namespace) -> dict[str, Any]:
    """Each system on the same questions; a table on standard error."""
    index = FileGraph(Path(options.graph)).index
    program = load_program(options.program).program
    tasks = []
    for question in load_questions(options.questions, options.format).questions[: options.limit]:
        found = answer_question(index, question.question, question.topics, program.scorer, program.config)
        chosen = list(found.relation_paths[0].relations) if found.relation_paths else []
        tasks.append(
            {"question": question.question, "topic": question.topics[0], "gold": question.answers, "chosen": chosen}
        )
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tasks.json"
        file.write_text(json.dumps(tasks))
        for system in options.systems:
            command = [sys.executable, __file__, "one", system, options.graph, str(file), options.program]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results[system] = json.loads(done.stdout)
            sys.stderr.write(f"{system}: {done.stdout}\n")
    names = ("questions", "ms_p50", "ms_p95", "ms_mean", "recall", "graph_mb", "peak_mb")
    rows = [[system, *(f"{figures[name]:.4g}" for name in names)] for system, figures in results.items()]
    sys.stderr.write(format_table(["", *names], rows, right=set(range(1, len(names) + 1))) + "\n")
    return results


def run_one(options: argparse.Namespace) -> dict[str, Any]:
    """One system: seconds and recall of each question, and memory."""
    tasks: list[Task] = json.loads(Path(options.tasks).read_text())
    tasks = tasks[: SLOW.get(options.system, len(tasks))]
    before = resident()
    start = time.process_time()
    answer = SYSTEMS[options.system](Path(options.graph), options.program)
    loaded = time.process_time() - start
    graph = resident() - before
    seconds, recalls = answered(answer, tasks)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "questions": len(tasks),
        **milliseconds(seconds),
        "recall": statistics.mean(recalls),
        "load_seconds": round(loaded, 2),
        "graph_mb": round(graph, 1),
        "peak_mb": round(peak - before, 1),
    }


def answered(
    answer: Callable[[Task], set[str]], tasks: Sequence[Task], most: float = math.inf
) -> tuple[list[float], list[float]]:
    """Seconds and recall of each question, until these have taken some seconds; what is made once is not counted."""
    answer(tasks[0])
    seconds: list[float] = []
    recalls = []
    for task in tasks:
        start = time.process_time()
        reached = answer(task)
        seconds.append(time.process_time() - start)
        recalls.append(len(reached & set(task["gold"])) / len(task["gold"]))
        if sum(seconds) > most:
            break
    return seconds, recalls


def resident() -> float:
    """Memory of this process in MB."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * resource.getpagesize() / 1024**2


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    p50, p95 = np.percentile(seconds, [50, 95])
    return {
        "ms_p50": round(1000 * float(p50), 3),
        "ms_p95": round(1000 * float(p95), 3),
        "ms_mean": round(1000 * statistics.mean(seconds), 3),
    }


def _finpath(graph: Path, folder: str) -> Answer:
    index, program = FileGraph(graph).index, load_program(folder).program

    def answer(task: Task) -> set[str]:
        found = answer_question(index, task["question"], [task["topic"]], program.scorer, program.config)
        return set(found.chosen)

    return answer


def _finpath_all(graph: Path, folder: str) -> Answer:
    """With everything that any completed relation path reaches, which is what the enumeration gives."""
    index, program = FileGraph(graph).index, load_program(folder).program

    def answer(task: Task) -> set[str]:
        found = answer_question(index, task["question"], [task["topic"]], program.scorer, program.config)
        topics = index.ids([task["topic"]])
        space = EntitySpace(index, task["question"], topics, program.scorer, program.config)
        relations = [tuple(index.relation(name) for name in path.relations) for path in found.relation_paths]
        return {index.name(entity) for path in relations for entity in space.answers((0, *path))}

    return answer


def _adjacency(graph: Path) -> dict[str, list[tuple[str, str]]]:
    adjacency: dict[str, list[tuple[str, str]]] = {}
    for subject, relation, value in _triples(graph):
        adjacency.setdefault(subject, []).append((relation, value))
        adjacency.setdefault(value, []).append((f"^{relation}", subject))
    return adjacency


def _triples(graph: Path) -> Iterator[tuple[str, str, str]]:
    index = FileGraph(graph).index
    edges = index.edges(np.arange(len(index.entities), dtype=np.int32))
    for subject, relation, value in zip(
        edges.place.tolist(), edges.relation.tolist(), edges.target.tolist(), strict=True
    ):
        if relation < len(index.relations) // 2:
            yield index.name(subject), index.relations[relation], index.name(value)


class Trie:
    """The token trie of some paths."""

    def __init__(self) -> None:
        self.root: dict[str, Any] = {}

    def add(self, text: str) -> None:
        """Adds a path."""
        node = self.root
        for token in _TOKEN.findall(text):
            node = node.setdefault(token, {})
        node[""] = True


def _breadth_first(graph: Path, _: str) -> Answer:
    adjacency = _adjacency(graph)

    def answer(task: Task) -> set[str]:
        trie, reached = Trie(), set()
        frontier = [((task["topic"],), task["topic"])]
        for _ in range(_STEPS):
            following = []
            for visited, text in frontier:
                for relation, value in adjacency.get(visited[-1], ()):
                    if value not in visited:
                        written = f"{text} -> {relation} -> {value}"
                        trie.add(written)
                        reached.add(value)
                        following.append(((*visited, value), written))
            frontier = following
        return reached

    return answer


def _networkx(graph: Path, _: str) -> Answer:
    import networkx as nx

    network = nx.MultiDiGraph()
    for entity, edges in _adjacency(graph).items():
        network.add_edges_from((entity, value, relation) for relation, value in edges)

    def answer(task: Task) -> set[str]:
        trie, reached = Trie(), set()
        targets = set(network) - {task["topic"]}
        for path in nx.all_simple_edge_paths(network, task["topic"], targets, cutoff=_STEPS):
            trie.add(task["topic"] + "".join(f" -> {relation} -> {value}" for _, value, relation in path))
            reached.add(path[-1][1])
        return reached

    return answer


def _query(graph: Path, *, given: bool) -> Callable[[Task], str]:
    """The SPARQL query of a task; entities and relations are IRIs with their numbers."""
    index = FileGraph(graph).index
    half = len(index.relations) // 2
    any_step = "(" + "|".join(f"<http://x/r{number}>|^<http://x/r{number}>" for number in range(half)) + ")"

    def step(name: str) -> str:
        number = index.relation(name)
        return f"<http://x/r{number}>" if number < half else f"^<http://x/r{number - half}>"

    def query(task: Task) -> str:
        topic = index.ids([task["topic"]])[0]
        if given:
            return f"SELECT DISTINCT ?o {{ <http://x/e{topic}> {'/'.join(map(step, task['chosen']))} ?o }}"
        path = f"{any_step}/({any_step}?)/({any_step}?)"
        return f"SELECT DISTINCT ?o {{ <http://x/e{topic}> {path} ?o }}"

    return query


def _oxigraph(graph: Path, *, given: bool) -> Answer:
    from pyoxigraph import NamedNode, Quad, Store

    index, query, store = FileGraph(graph).index, _query(graph, given=given), Store()
    nodes = {name: NamedNode(f"http://x/e{index.find(name)}") for name in _names(index)}
    store.bulk_extend(
        Quad(nodes[s], NamedNode(f"http://x/r{index.relation(r)}"), nodes[o]) for s, r, o in _triples(graph)
    )

    def answer(task: Task) -> set[str]:
        rows: Any = store.query(query(task))
        return {index.name(int(row[0].value.removeprefix("http://x/e"))) for row in rows}

    return answer


def _rdflib(graph: Path, *, given: bool) -> Answer:
    from rdflib import Graph, URIRef

    index, query, store = FileGraph(graph).index, _query(graph, given=given), Graph()
    nodes = {name: URIRef(f"http://x/e{index.find(name)}") for name in _names(index)}
    for subject, relation, value in _triples(graph):
        store.add((nodes[subject], URIRef(f"http://x/r{index.relation(relation)}"), nodes[value]))

    def answer(task: Task) -> set[str]:
        rows: Any = store.query(query(task))
        return {index.name(int(row[0].removeprefix("http://x/e"))) for row in rows}

    return answer


def _names(index: GraphIndex) -> Iterator[str]:
    return (index.name(number) for number in range(len(index.entities)))


SYSTEMS: dict[str, Callable[[Path, str], Answer]] = {
    "finpath": _finpath,
    "finpath, all paths": _finpath_all,
    "breadth-first + trie": _breadth_first,
    "networkx + trie": _networkx,
    "oxigraph, any path": lambda graph, _: _oxigraph(graph, given=False),
    "oxigraph, given path": lambda graph, _: _oxigraph(graph, given=True),
    "rdflib, any path": lambda graph, _: _rdflib(graph, given=False),
    "rdflib, given path": lambda graph, _: _rdflib(graph, given=True),
}


if __name__ == "__main__":
    main()
