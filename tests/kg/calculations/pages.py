"""A small report that the tests of this folder ask about."""

from __future__ import annotations

from kg.calculations.idf import Idf
from kg.calculations.report_index import ReportIndex
from kg.reports.graph import build_report_graph
from kg.reports.learning import build_ontology
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
GRAPH = build_report_graph(REPORT, build_ontology([REPORT]))
INDEX = ReportIndex(GRAPH.observations, REPORT.sentences, Idf({}, 1.0))
EMPTY = ReportIndex([], [], Idf({}, 1.0))


def item(text: str) -> int:
    """The first item that is written so."""
    return INDEX.texts.index(text)


def observation(text: str) -> int:
    """The observation of the first item that is written so."""
    return int(INDEX.base[item(text)])
