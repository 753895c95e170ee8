"""What a program works with: the frozen ontology and scorer, and the reports read with them."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

from kg.build import ReportGraph, build_report_graph
from kg.report_index import ReportIndex
from kg.ontology import Ontology
from kg.report import Report
from kg.scorer import DerivationScorer

KEPT_REPORTS = 32
"""Reports whose graph and index are kept, so that several conversations on one report build them once."""


class ReportReader:
    """Builds a report's graph and search index, once.

    It is shared, not copied, when an optimizer copies the program that holds it: all it knows is frozen.

    Args:
        ontology: The ontology that the graphs are written in.
        scorer: The beam's weights.
    """

    def __init__(self, ontology: Ontology, scorer: DerivationScorer) -> None:
        self.ontology = ontology
        self.scorer = scorer
        self._kept: OrderedDict[Report, tuple[ReportGraph, ReportIndex]] = OrderedDict()
        self._lock = Lock()

    def __copy__(self) -> ReportReader:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ReportReader:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.ontology.to_turtle(), self.scorer.to_json()))

    def read(self, report: Report) -> tuple[ReportGraph, ReportIndex]:
        """A report's frozen graph and the index compiled from it; safe to call from several threads."""
        with self._lock:
            if report in self._kept:
                self._kept.move_to_end(report)
                return self._kept[report]
        graph = build_report_graph(report, self.ontology)
        index = ReportIndex(graph.observations, report.sentences, self.scorer.idf)
        with self._lock:
            self._kept[report] = (graph, index)
            while len(self._kept) > KEPT_REPORTS:
                self._kept.popitem(last=False)
        return graph, index


def _restore(ontology: str, scorer: str) -> ReportReader:
    return ReportReader(Ontology.from_turtle(ontology), DerivationScorer.from_json(scorer))
