"""A small report that the tests of this folder ask about."""

from __future__ import annotations

from collections.abc import Sequence

from kg.calculations.idf import Idf
from kg.calculations.report_index import ReportIndex
from kg.reports.graph import build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.ontology import Ontology
from kg.reports.report import Report

REPORT = Report(
    id="ACME/2009/page_3.pdf",
    pre_text=("sales abroad were $ 5 million in 2009 .",),
    table=(
        ("", "2009", "2008", "2007"),
        ("net income", "$ 10", "$ 11", "$ 12"),
        ("operating margin", "4.5%", "3.5%", "2.5%"),
    ),
    post_text=(),
)


def report_index(report: Report, ontology: Ontology | None = None) -> ReportIndex:
    """The index of a report, whose words all count alike; the ontology is learned from it unless one is given."""
    graph = build_report_graph(report, ontology if ontology is not None else build_ontology([report]))
    return ReportIndex(graph.observations, report.sentences, Idf({}, 1.0))


def table_index(*rows: Sequence[str], text: Sequence[str] = (), ontology: Ontology | None = None) -> ReportIndex:
    """The index of a report of one table, and sentences after it."""
    return report_index(Report("ACME/2019/page_1.pdf", (), tuple(map(tuple, rows)), tuple(text)), ontology)


INDEX = report_index(REPORT)
EMPTY = ReportIndex([], [], Idf({}, 1.0))


def item(text: str) -> int:
    """The first item that is written so."""
    return INDEX.texts.index(text)


def observation(text: str) -> int:
    """The observation of the first item that is written so."""
    return int(INDEX.base[item(text)])
