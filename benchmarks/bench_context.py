"""Time of the graph context of a turn: in memory, and on a persistent store of a million triples.

    python benchmarks/bench_context.py --triples 1000000 --json out.json

The stores hold report graphs. A turn asks for the context of five entities; conversations walk through reports of
which nothing was fetched before (cold), and then go on with two new entities a turn (incremental). Radius 1 and 2.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.console import format_table
from experiments.data import load_conversations
from experiments.tasks import load_geography
from kg.graphs.context import GraphContextRetriever, TurnEntities
from kg.graphs.stores import GraphStore, MemoryStore, PersistentStore
from kg.ontology.learning import build_ontology
from kg.report_graphs.archive import ReportStore
from kg.report_graphs.graph import ReportGraph, build_report_graph
from kg.report_graphs.triples import report_base
from kg.reports.report import Report


def graphs(reports: Sequence[Report], triples: int) -> Iterator[ReportGraph]:
    """Graphs of copies of the reports, each under a name of its own, until they hold so many triples."""
    ontology = build_ontology(reports)
    count = number = 0
    while count < triples:
        for report in reports:
            copy = Report(f"{report.id}/{number}", report.pre_text, report.table, report.post_text)
            graph = build_report_graph(copy, ontology)
            count += len(graph.graph)
            yield graph
        number += 1


def entities_of(graph: ReportGraph) -> list[str]:
    """The instances of a report."""
    base = report_base(graph.report.id)
    return list(dict.fromkeys(f"{base}#{observation.entity}" for observation in graph.observations))


def measure(store: GraphStore, conversations: Sequence[Sequence[str]], radius: int) -> dict[str, float]:
    """Milliseconds of a turn: median, 95th percentile, processor time, and of a conversation's first turn."""
    cold: list[float] = []
    later: list[float] = []
    worked: list[float] = []
    for nodes in conversations:
        retriever = GraphContextRetriever(store)
        turns: list[TurnEntities] = []
        for place, start in enumerate(range(0, max(len(nodes) - 4, 1), 2)):
            turns.append(TurnEntities(tuple(nodes[start : start + 2]), tuple(nodes[start + 2 : start + 5])))
            begun, computed = time.perf_counter(), time.process_time()
            context = retriever.for_turns(turns, radius=radius)
            taken = 1000 * (time.perf_counter() - begun)
            worked.append(1000 * (time.process_time() - computed))
            assert context.entities
            assert not context.failures
            (later if place else cold).append(taken)
    every = cold + later
    return {
        "turns": len(every),
        "median_ms": statistics.median(every),
        "p95_ms": statistics.quantiles(every, n=20)[-1],
        "median_cpu_ms": statistics.median(worked),
        "first_turn_median_ms": statistics.median(cold),
    }


def main() -> None:
    """Prints a row for each store and radius."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="sample:train")
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    reports = list({one.report.id: one.report for one in load_conversations(options.data).conversations}.values())
    rows: list[list[object]] = []
    geography = load_geography()
    members = [node for kind in ("Country", "City") for node in geography.members(f"{geography.name}#{kind}")]
    shuffled = [random.Random(seed).sample(members, 15) for seed in range(options.conversations)]
    with MemoryStore() as memory:
        some = [graph for graph, _ in zip(graphs(reports, options.triples), range(30), strict=False)]
        for graph in some:
            ReportStore(memory).put(graph)
        talks = [entities_of(graph) for graph in some]
        for name, store, walks in (
            ("in memory, geography", geography.store, shuffled),
            ("in memory, 30 reports", memory, talks * 5),
        ):
            rows += [[name, store.triples(), radius, *measure(store, walks, radius).values()] for radius in (1, 2)]
    with tempfile.TemporaryDirectory() as folder, PersistentStore(Path(folder) / "db") as persistent:
        kept: list[list[str]] = []
        for graph in graphs(reports, options.triples):
            persistent.put(graph)
            kept.append(entities_of(graph))
        walks = random.Random(0).sample(kept, min(options.conversations, len(kept)))
        size = persistent.triples()
        rows += [["persistent", size, radius, *measure(persistent, walks, radius).values()] for radius in (1, 2)]
    names = ["store", "triples", "radius", "turns", "median_ms", "p95_ms", "median_cpu_ms", "first_turn_median_ms"]
    print(format_table(names, rows))
    if options.json is not None:
        records = [dict(zip(names, row, strict=True)) for row in rows]
        options.json.write_text(json.dumps(records, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
