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
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from experiments.console import format_table
from kg.graphs.index import GraphIndex
from kg.paths import LearnedRelationScorer, PathConfig, answer_question
from optimize.relations.scorer import RelationExample, RelationTrainingConfig, fit_relation_scorer

RELATIONS = 24
PATHS = 100_000
"""Paths of a question that an enumeration lists at the most."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_STEPS = 3
_TRAINING = 500
_IRI = "http://x/"
Answer = Callable[[RelationExample], set[str]]


def main() -> None:
    """Runs all systems on all graphs, and prints the figures as JSON and as a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--seconds", type=int, default=300, help="processor time of a system on a graph")
    parser.add_argument("--memory", type=float, default=12.0, help="memory in GB that a system may reserve")
    options = parser.parse_args()
    rows = [row for triples in options.triples for row in run_size(triples, options)]
    print(json.dumps(rows, indent=2))
    names = ("triples", "questions", "ms_p50", "ms_p95", "ms_mean", "recall", "build_seconds")
    table = [
        [row["system"], *(f"{row[name]:,.4g}" if name in row else "" for name in names), row.get("ended", "")]
        for row in rows
    ]
    sys.stderr.write(format_table(["", *names, ""], table, right=set(range(1, len(names) + 1))) + "\n")


def run_size(triples: int, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The figures of each system on one graph, each in a process of its own."""
    index = synthetic_graph(triples)
    examples = synthetic_questions(index, options.questions + _TRAINING)
    scorer = fit_relation_scorer(index, examples[options.questions :], RelationTrainingConfig(), seed=0)
    del index
    for system in options.systems:
        row: dict[str, Any] = {"system": system, "triples": triples}
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            given = (system, triples, scorer.to_json(), examples[: options.questions], options.seconds, options.memory)
            try:
                row |= pool.submit(run_one, *given).result()
            except (MemoryError, BrokenProcessPool):
                row["ended"] = f"needs more than {options.memory:g} GB"
        sys.stderr.write(f"{row}\n")
        yield row


def run_one(
    system: str, triples: int, scorer: str, examples: list[RelationExample], most: float, memory: float
) -> dict[str, Any]:
    """Milliseconds and recall of the questions, until these have taken ``most`` seconds."""
    resource.setrlimit(resource.RLIMIT_AS, (int(memory * 1e9),) * 2)
    start = time.process_time()
    answer = SYSTEMS[system](synthetic_graph(triples), scorer)
    built = time.process_time() - start
    answer(examples[0])  # what is made once is not counted
    seconds: list[float] = []
    recalls = []
    for example in examples:
        start = time.process_time()
        reached = answer(example)
        seconds.append(time.process_time() - start)
        recalls.append(len(reached & set(example.answers)) / len(example.answers))
        if sum(seconds) > most:
            break
    p50, p95 = np.percentile(seconds, [50, 95])
    times = {"ms_p50": p50, "ms_p95": p95, "ms_mean": statistics.mean(seconds)}
    return {
        "questions": len(seconds),
        **{name: round(1000 * float(value), 3) for name, value in times.items()},
        "recall": statistics.mean(recalls),
        "build_seconds": round(built, 1),
    }


def _finpath(index: GraphIndex, scorer: str) -> Answer:
    fitted, config = LearnedRelationScorer.from_json(scorer), PathConfig(max_depth=_STEPS)

    def answer(example: RelationExample) -> set[str]:
        result = answer_question(index, example.question, example.topics, fitted, config)
        return {concrete.answer for path in result.relation_paths for concrete in result.concrete(path)}

    return answer


def _enumeration(index: GraphIndex, scorer: str) -> Answer:
    """Breadth first over compressed rows, which is faster and smaller than dictionaries of names."""

    def paths(topic: int) -> Iterator[tuple[int, str]]:
        frontier = [((topic,), index.name(topic))]
        for _ in range(_STEPS):
            following = []
            for visited, text in frontier:
                edges = index.edges(np.array(visited[-1:]))
                for relation, value in zip(edges.relation.tolist(), edges.target.tolist(), strict=True):
                    if value not in visited:
                        written = f"{text} -> {index.relations[relation]} -> {index.name(value)}"
                        yield value, written
                        following.append(((*visited, value), written))
            frontier = following

    def answer(example: RelationExample) -> set[str]:
        trie: dict[str, Any] = {}
        reached = set()
        for value, text in islice(paths(int(index.ids(example.topics)[0])), PATHS):
            node = trie
            for token in _TOKEN.findall(text):
                node = node.setdefault(token, {})
            reached.add(index.name(value))
        return reached

    return answer


def _oxigraph(index: GraphIndex, scorer: str) -> Answer:
    from pyoxigraph import RdfFormat, Store

    half, block = len(index.relations) // 2, 100_000
    folder = tempfile.TemporaryDirectory()
    path, store = Path(folder.name) / "graph.nt", Store(str(Path(folder.name) / "store"))
    with path.open("w") as file:
        for start in range(0, len(index.entities), block):
            edges = index.edges(np.arange(start, min(start + block, len(index.entities)), dtype=np.int32))
            ahead = edges.relation < half
            columns = (edges.place + start, edges.relation, edges.target)
            for subject, relation, value in zip(*(column[ahead].tolist() for column in columns), strict=True):
                file.write(f"<{_IRI}e{subject}> <{_IRI}r{relation}> <{_IRI}e{value}> .\n")
    store.bulk_load(path=str(path), format=RdfFormat.N_TRIPLES, lenient=True)
    store.optimize()
    back = "".join(f"|^<{_IRI}r{number}>" for number in range(RELATIONS))
    step = f"(!<{_IRI}none>{back})"

    def answer(example: RelationExample) -> set[str]:
        query = f"SELECT DISTINCT ?o {{ <{_IRI}{example.topics[0]}> {step}/({step}?)/({step}?) ?o }}"
        assert folder  # it is there as long as the store
        rows: Any = store.query(query)
        return {row[0].value.removeprefix(_IRI) for row in rows}

    return answer


SYSTEMS: dict[str, Callable[[GraphIndex, str], Answer]] = {
    "finpath": _finpath,
    "paths and trie": _enumeration,
    "oxigraph": _oxigraph,
}


def synthetic_graph(triples: int, seed: int = 0) -> GraphIndex:
    """A random graph: ten triples an entity, whatever its size."""
    rng = np.random.default_rng(seed)
    entities = max(triples // 10, 2)
    # Squared, so that some entities and relations have far more triples than others.
    subjects = rng.integers(0, entities, triples, dtype=np.int32)
    predicates = (rng.random(triples, dtype=np.float32) ** 2 * RELATIONS).astype(np.int32)
    values = rng.integers(0, entities, triples, dtype=np.int32)
    names = [f"{_word(number)} of" for number in range(RELATIONS)]
    rows = zip(subjects.tolist(), predicates.tolist(), values.tolist(), strict=True)
    return GraphIndex.from_triples((f"e{start}", names[place], f"e{end}") for start, place, end in rows)


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
