"""The reader of reports: the frozen ontology and scorer, and the reports read with them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from kg.calculations import DerivationScorer, ReportIndex
from kg.encoders import TextEncoder
from kg.errors import ConfigError
from kg.reports import Ontology, Report, ReportGraph, ReportWords, Unmapped, build_report_graph, is_large, lines_of
from kg.search import Derivation

if TYPE_CHECKING:
    from programs.tools.graph_tools import GraphTools

KEPT_REPORTS = 32
"""Reports whose graph and index are kept, so that several conversations on one report build them once."""

KEPT_LARGE = 2
"""Large reports whose words are kept."""


class ReportReader:
    """Builds a report's graph and search index, once.

    It is shared, not copied, when an optimizer copies the program that holds it: all it knows is frozen.

    Args:
        ontology: The ontology that the graphs are written in.
        scorer: The beam's weights.
        unmapped: The treatment of line items outside the ontology: ``keep`` them as the report's own, or ``fail``.
    """

    def __init__(self, ontology: Ontology, scorer: DerivationScorer, unmapped: Unmapped = "keep") -> None:
        self.ontology = ontology
        self.scorer = scorer
        self.unmapped = unmapped
        self._kept: OrderedDict[Report, tuple[ReportGraph, ReportIndex]] = OrderedDict()
        self._words: OrderedDict[Report, ReportWords] = OrderedDict()
        self._graphs: WeakKeyDictionary[ReportIndex, ReportGraph] = WeakKeyDictionary()
        self._tools: WeakKeyDictionary[ReportIndex, GraphTools] = WeakKeyDictionary()
        self._lock = Lock()

    def __copy__(self) -> ReportReader:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ReportReader:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.ontology.to_turtle(), self.scorer.to_json(), self.scorer.encoder, self.unmapped))

    def read(
        self, report: Report, questions: Sequence[str] = (), past: Sequence[Derivation | None] = ()
    ) -> tuple[ReportGraph, ReportIndex]:
        """A report's frozen graph and the index compiled from it; safe to call from several threads.

        Args:
            report: The report. Of a large one an excerpt is read, see :mod:`kg.reports.excerpts`.
            questions: The questions so far, by which the excerpt is made.
            past: The derivations of earlier answers, whose rows and sentences the excerpt has.

        Raises:
            UnmappedRowError: The ontology does not cover all line items, and ``unmapped`` is ``fail``.
        """
        if is_large(report):
            names = (number.source or "" for one in past if one is not None for number in one.numbers)
            report = self._words_of(report).excerpt(questions, *lines_of(names))
        with self._lock:
            if report in self._kept:
                self._kept.move_to_end(report)
                return self._kept[report]
        graph = build_report_graph(report, self.ontology, unmapped=self.unmapped)
        index = ReportIndex(graph.observations, report.sentences, self.scorer.idf, kept_rows=report.kept_rows)
        with self._lock:
            self._kept[report] = (graph, index)
            self._graphs[index] = graph
            while len(self._kept) > KEPT_REPORTS:
                self._kept.popitem(last=False)
        return graph, index

    def _words_of(self, report: Report) -> ReportWords:
        """The words of a large report; those of the last few are kept."""
        with self._lock:
            known = self._words.get(report)
        if known is None:
            known = ReportWords(report)
            with self._lock:
                self._words[report] = known
                while len(self._words) > KEPT_LARGE:
                    self._words.popitem(last=False)
        return known

    def graph_of(self, index: ReportIndex) -> ReportGraph:
        """The graph that an index was compiled from.

        Raises:
            ConfigError: Another reader made the index.
        """
        with self._lock:
            graph = self._graphs.get(index)
        if graph is None:
            raise ConfigError("index must be one that this reader has read")
        return graph

    def tools_of(self, index: ReportIndex) -> GraphTools:
        """The tools over the graph of an index, which see its report alone; built once."""
        with self._lock:
            known = self._tools.get(index)
        if known is None:
            from programs.tools.graph_tools import GraphTools

            known = GraphTools.of_report(self.graph_of(index), self.ontology)
            with self._lock:
                self._tools[index] = known
        return known


def _restore(ontology: str, scorer: str, encoder: TextEncoder | None = None, unmapped: Unmapped = "keep") -> Any:
    return ReportReader(Ontology.from_turtle(ontology), DerivationScorer.from_json(scorer, encoder), unmapped)
