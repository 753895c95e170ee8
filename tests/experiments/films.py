"""A graph of films and questions about it."""

from __future__ import annotations

from experiments.data import KGQuestion, LoadedGraph
from kg.graphs.index import GraphIndex
from kg.paths import QuestionGraph

TRIPLES = [
    *((f"film{n}", "directed_by", f"person{n % 3}") for n in range(8)),
    *((f"film{n}", "released_in", str(1990 + n)) for n in range(8)),
]

GRAPH = LoadedGraph(QuestionGraph.over(GraphIndex.from_triples(TRIPLES)), "films")

QUESTIONS = tuple(
    KGQuestion(f"q{n}-{kind}", text.format(f"film{n}"), (f"film{n}",), (answer,), (f"film{n} -> {kind} -> {answer}",))
    for n in range(8)
    for kind, text, answer in (
        ("directed_by", "who made {} ?", f"person{n % 3}"),
        ("released_in", "when did {} come out ?", str(1990 + n)),
    )
)
