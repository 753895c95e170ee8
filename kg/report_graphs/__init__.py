"""Report graphs: the figures of a report as observations with their sources, in RDF and in stores."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.report_graphs.archive import ReportStore
    from kg.report_graphs.graph import ReportGraph, Unmapped, build_report_graph
    from kg.report_graphs.observation import CellSource, Observation, SentenceSource, Source
    from kg.report_graphs.queries import ReportQueryResult, query_report
    from kg.report_graphs.shapes import can_validate, violations
    from kg.report_graphs.triples import document_order, observations_in, report_base
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "CellSource",
    "Observation",
    "ReportGraph",
    "ReportQueryResult",
    "ReportStore",
    "SentenceSource",
    "Source",
    "Unmapped",
    "build_report_graph",
    "can_validate",
    "document_order",
    "observations_in",
    "query_report",
    "report_base",
    "violations",
]
