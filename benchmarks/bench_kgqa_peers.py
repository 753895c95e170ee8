"""Finpath's search compared with enumerations and SPARQL property paths on random graphs of several sizes.

    python benchmarks/bench_kgqa_peers.py --triples 100000 1000000 10000000

The graphs are random, of a fixed seed: ten triples an entity, and 24 relations of which some are far more frequent than
others. Questions name one to three relations. Each system answers the same questions in its own process
with a limit of seconds of processor time and of memory. Enumerations end after so many paths a question, so that all
come to an end. Times are those of the processor, one core. Graph-constrained decoding lists all paths and builds a trie
of their tokens; here words and marks are tokens, which are fewer than a model's pieces.

- ``finpath``: all that the paths of the beam reach.
- ``paths and trie``: all simple paths of up to three steps in both directions.
- ``oxigraph``: a SPARQL property path of one to three steps over any relation, in both directions, without a trie.

Recall is the share of the gold answers among all that a system reaches.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.console import format_table  # noqa: E402
from kg.graphs.index import GraphIndex  # noqa: E402
from kg.graphs.string_table import NumberedNames  # noqa: E402
from kg.paths import LearnedRelationScorer, PathConfig, answer_question  # noqa: E402
from optimize.relations.scorer import RelationExample, RelationTrainingConfig, fit_relation_scorer  # noqa: E402

RELATIONS = 24
_TOKEN = re.compile(r"\w+|[^\w\s]")
_STEPS = 3
_TRAINING = 500
_IRI = "http://x/"
Task = dict[str, Any]
Answer = Callable[[Task], set[str]]


def main() -> None:
    """Runs all systems, or one in this process, and prints the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--seconds", type=int, default=300, help="processor time of a system on a graph")
    parser.add_argument("--paths", type=int, default=100_000, help="paths of a question at the most")
    parser.add_argument("--memory", type=float, default=12.0, help="memory in GB that a system may reserve")
    parser.add_argument("--one", nargs=3, metavar=("SYSTEM", "TRIPLES", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run_one(options.one[0], int(options.one[1]), Path(options.one[2]), options)))
        return
    rows = [row for triples in options.triples for row in run_size(triples, options)]
    print(json.dumps(rows, indent=2))
    names = ("triples", "questions", "ms_p50", "ms_p95", "ms_mean", "recall", "build_seconds")
    table = [
        [row["system"], *(f"{row[name]:,.4g}" if name in row else "" for name in names), row.get("ended", "")]
        for row in rows
    ]
    sys.stderr.write(format_table(["", *names, ""], table, right=set(range(1, len(names) + 1))) + "\n")


def run_size(triples: int, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The figures of each system on one graph."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index = synthetic_graph(triples)
        index.save(folder / "graph.npz")
        examples = synthetic_questions(index, options.questions + _TRAINING)
        scorer = fit_relation_scorer(index, examples[options.questions :], RelationTrainingConfig(), seed=0)
        (folder / "scorer.json").write_text(scorer.to_json())
        tasks = [
            {"question": one.question, "topic": one.topics[0], "gold": one.answers}
            for one in examples[: options.questions]
        ]
        (folder / "tasks.json").write_text(json.dumps(tasks))
        del index, examples
        for system in options.systems:
            command = [sys.executable, __file__, "--one", system, str(triples), name]
            command += ["--seconds", str(options.seconds), "--paths", str(options.paths)]
            command += ["--memory", str(options.memory)]
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            row: dict[str, Any] = {"system": system, "triples": triples}
            row |= json.loads(done.stdout) if done.returncode == 0 else {"ended": _reason(done, options.memory)}
            sys.stderr.write(f"{row}\n{done.stderr[-500:]}")
            yield row


def _reason(done: subprocess.CompletedProcess[str], memory: float) -> str:
    """Why a system has no figures."""
    is_full = "MemoryError" in done.stderr or done.returncode == -signal.SIGKILL
    return f"needs more than {memory:g} GB" if is_full else f"ended with {done.returncode}"


@dataclass(frozen=True)
class Setting:
    """A graph on disk with the trained scorer, and the limit of paths."""

    triples: int
    folder: Path
    paths: int

    def index(self) -> GraphIndex:
        """The graph, made again in memory."""
        return synthetic_graph(self.triples)

    def edges(self) -> Iterator[tuple[int, int, int]]:
        """Subject, relation and value of each triple."""
        index = self.index()
        half, block = len(index.relations) // 2, 100_000
        for start in range(0, len(index.entities), block):
            edges = index.edges(np.arange(start, min(start + block, len(index.entities)), dtype=np.int32))
            ahead = edges.relation < half
            places = (edges.place[ahead] + start).tolist()
            yield from zip(places, edges.relation[ahead].tolist(), edges.target[ahead].tolist(), strict=True)


def run_one(system: str, triples: int, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Seconds and recall of each question."""
    resource.setrlimit(resource.RLIMIT_AS, (int(options.memory * 1e9),) * 2)
    tasks: list[Task] = json.loads((folder / "tasks.json").read_text())
    start = time.process_time()
    answer = SYSTEMS[system](Setting(triples, folder, options.paths))
    built = time.process_time() - start
    seconds, recalls = answered(answer, tasks, options.seconds)
    return {
        "questions": len(seconds),
        **milliseconds(seconds),
        "recall": statistics.mean(recalls),
        "build_seconds": round(built, 1),
    }


def _finpath(setting: Setting) -> Answer:
    index = setting.index()
    scorer = LearnedRelationScorer.from_json((setting.folder / "scorer.json").read_text())
    config = PathConfig(max_depth=_STEPS)

    def answer(task: Task) -> set[str]:
        result = answer_question(index, task["question"], [task["topic"]], scorer, config)
        return {concrete.answer for path in result.relation_paths for concrete in result.concrete(path)}

    return answer


def _enumeration(setting: Setting) -> Answer:
    """Breadth first over compressed rows, which is faster and smaller than dictionaries of names."""
    index = setting.index()

    def paths(topic: int) -> Iterator[tuple[int, str]]:
        frontier = [((topic,), index.name(topic))]
        for _ in range(_STEPS):
            following = []
            for visited, text in frontier:
                edges = index.neighbours(visited[-1])
                for relation, value in zip(edges.relation.tolist(), edges.target.tolist(), strict=True):
                    if value not in visited:
                        written = f"{text} -> {index.relations[relation]} -> {index.name(value)}"
                        yield value, written
                        following.append(((*visited, value), written))
            frontier = following

    def answer(task: Task) -> set[str]:
        trie, reached = Trie(), set()
        for value, text in islice(paths(int(index.ids([task["topic"]])[0])), setting.paths):
            trie.add(text)
            reached.add(index.name(value))
        return reached

    return answer


def _query(topic: str) -> str:
    back = "".join(f"|^<{_IRI}r{number}>" for number in range(RELATIONS))
    step = f"(!<{_IRI}none>{back})"
    return f"SELECT DISTINCT ?o {{ <{_IRI}{topic}> {step}/({step}?)/({step}?) ?o }}"


def _oxigraph(setting: Setting) -> Answer:
    from pyoxigraph import RdfFormat, Store

    path, is_new = setting.folder / "graph.nt", not (setting.folder / "oxigraph").exists()
    store = Store(str(setting.folder / "oxigraph"))
    if is_new:
        with path.open("w") as file:
            for subject, relation, value in setting.edges():
                file.write(f"<{_IRI}e{subject}> <{_IRI}r{relation}> <{_IRI}e{value}> .\n")
        store.bulk_load(path=str(path), format=RdfFormat.N_TRIPLES, lenient=True)
        store.optimize()

    def answer(task: Task) -> set[str]:
        rows: Any = store.query(_query(task["topic"]))
        return {row[0].value.removeprefix(_IRI) for row in rows}

    return answer


SYSTEMS: dict[str, Callable[[Setting], Answer]] = {
    "finpath": _finpath,
    "paths and trie": _enumeration,
    "oxigraph": _oxigraph,
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


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    p50, p95 = np.percentile(seconds, [50, 95])
    return {
        "ms_p50": round(1000 * float(p50), 3),
        "ms_p95": round(1000 * float(p95), 3),
        "ms_mean": round(1000 * statistics.mean(seconds), 3),
    }


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


def synthetic_graph(triples: int, seed: int = 0) -> GraphIndex:
    """A random graph: ten triples an entity, whatever its size."""
    rng = np.random.default_rng(seed)
    entities = max(triples // 10, 2)
    # Squared, so that some entities and relations have far more triples than others.
    subjects = rng.integers(0, entities, triples, dtype=np.int32)
    predicates = (rng.random(triples, dtype=np.float32) ** 2 * RELATIONS).astype(np.int32)
    values = rng.integers(0, entities, triples, dtype=np.int32)
    names = [f"{_word(number)} of" for number in range(RELATIONS)]
    return GraphIndex.from_ids(subjects, predicates, values, NumberedNames("e", entities), names)


def _word(number: int) -> str:
    """An invented word."""
    syllables = ("ka", "lo", "mi", "ru", "te", "no")
    return "".join(syllables[number // 6**place % 6] for place in range(3))


def synthetic_questions(index: GraphIndex, count: int, seed: int = 1) -> list[RelationExample]:
    """Questions along one to three relations that lead somewhere, whose words name the relations."""
    rng = np.random.default_rng(seed)
    found: list[RelationExample] = []
    while len(found) < count:
        start = int(rng.integers(len(index.entities)))
        ids, path = np.array([start], dtype=np.int32), []
        for _ in range(int(rng.integers(1, _STEPS + 1))):
            options = [relation for relation in index.relations_of(ids).tolist() if relation < RELATIONS]
            if not options:
                break
            path.append(int(rng.choice(options)))
            ids = index.follow(ids, path[-1])
        if path and start not in ids:
            words = " of the ".join(index.relations[relation].removesuffix(" of") for relation in reversed(path))
            topic = index.name(start)
            relations = tuple(index.relations[relation] for relation in path)
            answers = tuple(index.name(entity) for entity in ids)
            found.append(RelationExample(f"what is the {words} of {topic} ?", (topic,), answers, relations))
    return found


if __name__ == "__main__":
    main()
