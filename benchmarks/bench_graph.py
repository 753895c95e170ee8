"""Speed of building and querying graphs. Run by hand, not by the tests::

    python benchmarks/bench_graph.py build train.json --ontology ontology.ttl
    python benchmarks/bench_graph.py store --triples 10000000 --folder /tmp/finpath-bench

``build`` times a report's graph alone, and with the index that the search needs. ``store`` loads synthetic reports into
the persistent store until it holds that many triples (a folder that holds them already is only queried), then times
``query_kg``: of one report, with its tools new for every query and kept, and of the whole corpus
for 10 figures and for 100.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.data import read_ontology, read_records_of, read_report  # noqa: E402
from kg.figures.figure_index import ReportIndex  # noqa: E402
from kg.figures.idf import Idf  # noqa: E402
from kg.figures.tools import GraphTools  # noqa: E402
from kg.graphs.stores import PersistentStore  # noqa: E402
from kg.ontology.learning import build_ontology  # noqa: E402
from kg.report_graphs.archive import ReportStore  # noqa: E402
from kg.report_graphs.graph import build_report_graph  # noqa: E402
from kg.reports.report import Report  # noqa: E402

_ITEMS = (
    "net sales",
    "cost of sales",
    "gross profit",
    "operating income",
    "interest expense",
    "income tax expense",
    "net income",
    "diluted earnings per share",
    "net cash from operating activities",
    "capital expenditures",
    "total assets",
    "long-term debt",
)


def main() -> None:
    """Runs one benchmark and prints its figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    build = actions.add_parser("build")
    build.add_argument("sources", nargs="+")
    build.add_argument("--ontology")
    build.set_defaults(run=lambda options: bench_build(options.sources, options.ontology))
    store = actions.add_parser("store")
    store.add_argument("--triples", type=int, default=10_000_000)
    store.add_argument("--folder", required=True)
    store.add_argument("--queries", type=int, default=300)
    store.set_defaults(run=lambda options: bench_store(options.triples, options.folder, options.queries))
    options = parser.parse_args()
    print(json.dumps(options.run(options), indent=2))


def bench_build(sources: Sequence[str], ontology_path: str | None) -> dict[str, object]:
    """Times graphs, and graphs with their index, of every report of some files."""
    reports = [read_report(record) for source in sources for _, _, record in read_records_of(source)]
    ontology = read_ontology(ontology_path, sources)
    idf = Idf.learn([" ".join(report.sentences) for report in reports])
    graphs: list[float] = []
    both: list[float] = []
    for report in reports:
        start = time.perf_counter()
        graph = build_report_graph(report, ontology)
        graphs.append(time.perf_counter() - start)
        ReportIndex(graph.observations, report.sentences, idf)
        both.append(time.perf_counter() - start)
    return {"reports": len(reports), "graph_ms": _milliseconds(graphs), "graph_and_index_ms": _milliseconds(both)}


def bench_store(triples: int, folder: str, queries: int) -> dict[str, object]:
    """Loads synthetic reports up to a number of triples and times queries on them."""
    rng = random.Random(0)
    ontology = build_ontology([_synthetic(0, rng)])
    result: dict[str, object] = {}
    with PersistentStore(folder) as store:
        held = store.triples()
        start = time.perf_counter()
        number = len(ReportStore(store).reports())
        for report in _reports(number, rng):
            if held >= triples:
                break
            graph = build_report_graph(report, ontology)
            ReportStore(store).put(graph)
            held += len(graph.graph)
        result["load_seconds"] = time.perf_counter() - start
        names = ReportStore(store).reports()
        result |= {"triples": held, "reports": len(names), "reports_loaded": len(names) - number}
        chosen = [rng.choice(names) for _ in range(queries)]
        wanted = [(str(rng.randint(2004, 2015)), rng.choice(list(ontology.properties))) for _ in chosen]
        new: list[float] = []
        kept: list[float] = []
        for name, (year, item) in zip(chosen, wanted, strict=True):
            start = time.perf_counter()
            tools = GraphTools(store, ontology, name)
            tools.query_kg("IncomeStatement", {"year": year}, item)
            new.append(time.perf_counter() - start)
            start = time.perf_counter()
            tools.query_kg("IncomeStatement", {"year": year}, item)
            kept.append(time.perf_counter() - start)
        corpus = GraphTools(store, ontology)
        whole: dict[int, list[float]] = {10: [], 100: []}
        for year, item in wanted[:100]:
            for limit, seconds in whole.items():
                start = time.perf_counter()
                corpus.query_kg("IncomeStatement", {"year": year}, item, limit=limit)
                seconds.append(time.perf_counter() - start)
    result |= {
        "query_ms_new_tools": _milliseconds(new),
        "query_ms": _milliseconds(kept),
        "query_ms_whole_corpus_10_figures": _milliseconds(whole[10]),
        "query_ms_whole_corpus_100_figures": _milliseconds(whole[100]),
    }
    return result


def _reports(first: int, rng: random.Random) -> Iterator[Report]:
    number = first
    while True:
        yield _synthetic(number, rng)
        number += 1


def _synthetic(number: int, rng: random.Random) -> Report:
    years = [str(year) for year in range(2015, 2003, -1)]
    rows = [(item, *(f"$ {rng.randint(1, 999999)}" for _ in years)) for item in _ITEMS]
    sentences = tuple(
        f"{item} was $ {rng.randint(1, 9999)}.{rng.randint(1, 9)} million in {rng.choice(years)} ." for item in _ITEMS
    )
    return Report(f"SYNTHETIC/{number}", sentences, (("in thousands", *years), *rows), ())


def _milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "p50": round(1000 * statistics.median(ordered), 2),
        "p95": round(1000 * ordered[int(0.95 * (len(ordered) - 1))], 2),
        "max": round(1000 * ordered[-1], 2),
    }


if __name__ == "__main__":
    main()
