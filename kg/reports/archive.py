"""Report graphs in a store, each as a named graph with the report's IRI.

>>> with MemoryStore() as store:
...     archive = ReportStore(store)
...     archive.put(report_graph)
...     archive.reports()
['JKHY/2009/page_28.pdf']
"""

from __future__ import annotations

from kg.errors import QueryError
from kg.graphs import GraphStore
from kg.reports.graph import ReportGraph
from kg.reports.observation import Observation
from kg.reports.triples import document_order, observations_in, report_base, report_id
from kg.reports.vocabulary import REPORTS

_NAMED_GRAPHS = "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?report a <https://w3id.org/finpath/ontology#Report> } }"


class ReportStore:
    """The reports of a graph store.

    Args:
        store: The store of the graphs.
    """

    def __init__(self, store: GraphStore) -> None:
        self.store = store

    def put(self, graph: ReportGraph) -> None:
        """Stores or replaces a report's graph in one transaction."""
        self.store.put_graph(report_base(graph.report.id), graph.graph)

    def remove(self, report: str) -> None:
        """Removes a report.

        Raises:
            QueryError: The report is not stored.
        """
        self._check(report)
        self.store.remove_graph(report_base(report))

    def reports(self) -> list[str]:
        """The ids of the stored reports, sorted."""
        names = (str(row[0]) for row in self.store.select(_NAMED_GRAPHS))
        return sorted(report_id(name) for name in names if name.startswith(REPORTS))

    def has(self, report: str) -> bool:
        """Whether a report is stored."""
        base = report_base(report)
        return bool(self.store.select(f"SELECT ?t WHERE {{ GRAPH <{base}> {{ <{base}> a ?t }} }} LIMIT 1"))

    def observations(self, report: str) -> tuple[Observation, ...]:
        """A stored report's figures, in document order.

        Raises:
            QueryError: The report is not stored.
        """
        self._check(report)
        rows = self.store.texts(f"SELECT ?s ?p ?o WHERE {{ GRAPH <{report_base(report)}> {{ ?s ?p ?o }} }}")
        found = [observation for _, observation in observations_in((str(s), str(p), str(o)) for s, p, o in rows)]
        return tuple(sorted(found, key=lambda observation: document_order(observation.source)))

    def _check(self, report: str) -> None:
        if not self.has(report):
            raise QueryError(f"report {report!r} is not stored")
