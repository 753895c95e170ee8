"""Growth of the time of a question with the graph and with the beam. Run by hand, not by the tests::

    python benchmarks/bench_kgqa_scale.py --triples 1000000 10000000 50000000 --plot docs/images/kgqa-scale.svg

Graphs are random, of a fixed seed, and differ in size alone: ten triples an entity, 24 relations of which some are far
more frequent than others. Questions name one to three relations; the scorer is fitted on 500 of them, once, on the
smallest graph. Times are those of the processor, one core.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kg.graphs.index import GraphIndex  # noqa: E402
from kg.graphs.string_table import NumberedNames  # noqa: E402
from kg.paths.scorer import LearnedRelationScorer  # noqa: E402
from kg.paths.space import PathConfig, answer_question  # noqa: E402
from optimize.relations.scorer import RelationExample, RelationTrainingConfig, fit_relation_scorer  # noqa: E402

RELATIONS = 24
_STEPS = 3


def main() -> None:
    """Runs the benchmark and prints its figures as JSON."""
    scale = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    scale.add_argument("--triples", type=int, nargs="+", default=[1_000_000, 10_000_000, 50_000_000])
    scale.add_argument("--widths", type=int, nargs="+", default=[5, 10, 20, 40])
    scale.add_argument("--questions", type=int, default=200)
    scale.add_argument("--plot", metavar="FILE")
    options = scale.parse_args()
    print(json.dumps(run_scale(options), indent=2))


def run_scale(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Seconds a question over random graphs of several sizes, with several widths of the beam."""
    scorer = None
    rows = []
    for triples in options.triples:
        start = time.process_time()
        index = synthetic_graph(triples)
        built = time.process_time() - start
        questions = synthetic_questions(index, options.questions + 500)
        if scorer is None:
            scorer = fit_relation_scorer(index, questions[options.questions :], RelationTrainingConfig(), seed=0)
        for width in options.widths:
            figures = _timed(index, questions[: options.questions], scorer, PathConfig(beam_width=width, max_depth=3))
            memory = {"index_mb": round(index.bytes / 1024**2, 1), "build_seconds": round(built, 1)}
            rows.append({"triples": len(index), "beam_width": width, **figures, **memory})
            sys.stderr.write(f"{rows[-1]}\n")
        del index
    if options.plot:
        plot(rows, options.plot)
    return rows


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


def _timed(
    index: GraphIndex, questions: Sequence[RelationExample], scorer: LearnedRelationScorer, config: PathConfig
) -> dict[str, Any]:
    seconds, right = [], 0
    for one in questions:
        start = time.process_time()
        found = answer_question(index, one.question, one.topics, scorer, config)
        seconds.append(time.process_time() - start)
        right += bool(found.answers) and found.answers[0][0] in one.answers
    p50, p95 = np.percentile(seconds, [50, 95])
    return {
        "hit_at_1": round(right / len(questions), 4),
        "ms_p50": round(1000 * float(p50), 3),
        "ms_p95": round(1000 * float(p95), 3),
        "ms_mean": round(1000 * statistics.mean(seconds), 3),
    }


def plot(rows: Sequence[dict[str, Any]], path: str) -> None:
    """Milliseconds a question against triples, a line a width of the beam."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for width in sorted({row["beam_width"] for row in rows}, reverse=True):
        of_width = [row for row in rows if row["beam_width"] == width]
        axes.plot(
            [row["triples"] for row in of_width], [row["ms_p50"] for row in of_width], marker="o", label=f"beam {width}"
        )
    axes.set(xscale="log", ylim=(0, None), xlabel="triples in the graph", ylabel="milliseconds a question, median")
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
