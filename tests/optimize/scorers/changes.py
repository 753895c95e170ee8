"""A report with a change between two years, a conversation about it, and small settings of a fit."""

from __future__ import annotations

from dataclasses import replace

from kg.calculations.report_index import Idf, ReportIndex
from kg.reports.graph import build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from optimize.scorers.derivations import ScorerConfig, TrainingConfig

SMALL = ScorerConfig(
    form_steps=60,
    ensemble=1,
    operands=TrainingConfig(hidden=12, epochs=15),
    answers=TrainingConfig(hidden=12, epochs=15),
    ranker=TrainingConfig(hidden=12, epochs=15),
    ranker_ensemble=1,
    folds=2,
)

TINY = replace(
    SMALL,
    form_steps=5,
    form_count=1,
    operands=TrainingConfig(hidden=4, epochs=2),
    answers=TrainingConfig(hidden=4, epochs=2),
    ranker=TrainingConfig(hidden=4, epochs=2),
)

REPORT = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4.5%", "10")), ())

QUESTIONS = ["income in 2009?", "and in 2008?", "the change?", "per thousand?"]

PROGRAMS = ["10", "12", "subtract(10, 12)", "subtract(10, 12), divide(#0, const_1000)"]

UNKNOWN = ReportIndex([], [], Idf({}, 1.0))
"""Of a report that is not known."""


def report_index() -> ReportIndex:
    """Returns the index of the report."""
    graph = build_report_graph(REPORT, build_ontology([REPORT]))
    return ReportIndex(graph.observations, REPORT.sentences, Idf({}, 1.0))
