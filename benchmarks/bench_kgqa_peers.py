"""Finpath's search compared with an enumeration of paths on random graphs of several sizes.

    python benchmarks/bench_kgqa_peers.py 100000 1000000 10000000

The graphs are random, of a fixed seed: ten triples an entity, and 24 relations of which some are far more frequent than
others. Questions name one to three relations. Times are those of the processor, one core.

- ``finpath``: all that the paths of the beam reach.
- ``paths and trie``: all simple paths of up to three steps in both directions, up to a number of paths a question, in a
  trie of their tokens, as graph-constrained decoding has it; here words and marks are tokens.

Recall is the share of the gold answers among all that a system reaches.
"""

from __future__ import annotations

import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from experiments.console import format_table
from kg.graphs.index import GraphIndex
from kg.paths import LearnedRelationScorer, PathConfig, answer_question
from optimize.relations.scorer import RelationExample, RelationTrainingConfig, fit_relation_scorer

RELATIONS = 24
PATHS = 100_000  # of a question that the enumeration lists at the most
_TOKEN = re.compile(r"\w+|[^\w\s]")
_STEPS = 3
_ASKED, _TRAINING = 20, 500
Answer = Callable[[RelationExample], set[str]]


def main() -> None:
    """Runs both systems on all graphs, and prints the figures as a table."""
    table = []
    for triples in map(int, sys.argv[1:]):
        index = synthetic_graph(triples)
        examples = synthetic_questions(index, _ASKED + _TRAINING)
        scorer = fit_relation_scorer(index, examples[_ASKED:], RelationTrainingConfig(), seed=0)
        for name, system in SYSTEMS.items():
            table.append([name, triples, *figures(system(index, scorer), examples[:_ASKED])])
    print(format_table(["", "triples", "median ms", "95% ms", "mean ms", "recall"], table))


def figures(answer: Answer, examples: list[RelationExample]) -> list[float]:
    """Milliseconds of the questions, and their mean recall."""
    answer(examples[0])  # what is made once is not counted
    times, recalls = [], []
    for example in examples:
        start = time.process_time()
        reached = answer(example)
        times.append(1000 * (time.process_time() - start))
        recalls.append(len(reached & set(example.answers)) / len(example.answers))
    return [*map(float, np.percentile(times, [50, 95])), statistics.mean(times), statistics.mean(recalls)]


def _finpath(index: GraphIndex, scorer: LearnedRelationScorer) -> Answer:
    config = PathConfig(max_depth=_STEPS)

    def answer(example: RelationExample) -> set[str]:
        result = answer_question(index, example.question, example.topics, scorer, config)
        return {concrete.answer for path in result.relation_paths for concrete in result.concrete(path)}

    return answer


def _enumeration(index: GraphIndex, scorer: LearnedRelationScorer) -> Answer:
    """Breadth first over compressed rows, which is faster and smaller than dictionaries of names."""

    def paths(topic: int) -> Iterator[tuple[int, str]]:
        frontier = [((topic,), index.name(topic))]
        for _ in range(_STEPS):
            following = []
            for visited, text in frontier:
                edges = index.edges(np.array(visited[-1:]))
                for relation, value in zip(edges.relation.tolist(), edges.target.tolist(), strict=True):
                    if value not in visited:
                        following.append(
                            ((*visited, value), f"{text} -> {index.relations[relation]} -> {index.name(value)}")
                        )
                        yield value, following[-1][1]
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


SYSTEMS: dict[str, Callable[[GraphIndex, LearnedRelationScorer], Answer]] = {
    "finpath": _finpath,
    "paths and trie": _enumeration,
}


def synthetic_graph(triples: int, seed: int = 0) -> GraphIndex:
    """A random graph: ten triples an entity, whatever its size."""
    rng = np.random.default_rng(seed)
    entities = max(triples // 10, 2)
    # Squared, so that some entities and relations have far more triples than others.
    subjects = rng.integers(0, entities, triples, dtype=np.int32)
    predicates = (rng.random(triples, dtype=np.float32) ** 2 * RELATIONS).astype(np.int32)
    values = rng.integers(0, entities, triples, dtype=np.int32)
    names = [f"{one}{other} of" for one in ("ka", "lo", "mi", "ru", "te") for other in ("ba", "de", "fi", "go", "nu")][
        :RELATIONS
    ]
    rows = zip(subjects.tolist(), predicates.tolist(), values.tolist(), strict=True)
    return GraphIndex.from_triples((f"e{start}", names[place], f"e{end}") for start, place, end in rows)


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
            topic, answers = index.name(start), tuple(index.name(entity) for entity in ids)
            relations = tuple(index.relations[relation] for relation in path)
            found.append(RelationExample(f"what is the {words} of {topic} ?", (topic,), answers, relations))
    return found


if __name__ == "__main__":
    main()
