"""Indexes of small reports, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence

from kg.calculations.report_index import Idf, ReportIndex
from kg.reports.graph import build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.ontology import Ontology
from kg.reports.report import Report


def report_index(report: Report, ontology: Ontology | None = None) -> ReportIndex:
    """The index of a report, whose words all count alike; the ontology is learned from it unless one is given."""
    graph = build_report_graph(report, ontology if ontology is not None else build_ontology([report]))
    return ReportIndex(graph.observations, report.sentences, Idf({}, 1.0))


def table_index(*rows: Sequence[str], text: Sequence[str] = (), ontology: Ontology | None = None) -> ReportIndex:
    """The index of a report of one table, and sentences after it."""
    return report_index(Report("ACME/2019/page_1.pdf", (), tuple(map(tuple, rows)), tuple(text)), ontology)
