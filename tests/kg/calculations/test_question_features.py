"""What the scorers see of figures and questions; not how it is laid out is tested, but what it tells apart."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np

from kg.calculations.idf import Idf
from kg.calculations.question_features import QuestionFeatures
from kg.calculations.report_index import ReportIndex
from kg.reports.graph import build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from tests.kg.calculations.pages import GRAPH, INDEX, REPORT, item


def test_what_is_asked_for_differs_from_what_is_not() -> None:
    question = QuestionFeatures(INDEX, ["what was the net income in 2008?"])
    assert question.years == (2008,)
    assert question.items.shape[0] == len(INDEX)
    assert np.isfinite(question.items).all()
    assert not np.array_equal(question.items[item("11")], question.items[item("10")]), "another year"
    assert not np.array_equal(question.items[item("11")], question.items[item("3.5")]), "another line item"
    assert not np.array_equal(question.items[item("3.5")], question.items[item("3.5%")]), "written otherwise"


def test_what_no_figure_of_a_report_can_be_has_finite_features() -> None:
    huge = [
        replace(
            GRAPH.observations[0], quantity=replace(GRAPH.observations[0].quantity, value=Decimal(value), text=text)
        )
        for value, text in (("1e400", "9" * 400), ("-1e400", "-" + "9" * 400), ("-7", "-7"))
    ]
    items = QuestionFeatures(ReportIndex(huge, REPORT.sentences, Idf({}, 1.0)), ["net income?"]).items
    assert np.isfinite(items).all()
    assert not np.array_equal(items[0], items[1]), "another sign"


def test_years_are_carried_from_the_latest_question_that_named_some() -> None:
    question = QuestionFeatures(INDEX, ["income in 2007?", "and in 2008?", "and the margin?"])
    assert question.years == ()
    assert question.carried_years == (2008,)


def test_an_opening_balance_is_of_its_own_year_where_the_beginning_is_asked_for() -> None:
    table = (("", "2009", "2008"), ("balance at january 1", "$ 7", "$ 5"), ("balance at december 31", "$ 9", "$ 8"))
    report = Report("balances", (), table, ())
    graph = build_report_graph(report, build_ontology([report]))
    index = ReportIndex(graph.observations, report.sentences, Idf({}, 1.0))
    opening, closing = index.texts.index("7"), index.texts.index("8")

    def years(question: str) -> list[list[float]]:
        features = QuestionFeatures(index, [question])
        columns = [place for place, name in enumerate(features.names) if name.startswith(("opening", "asked_"))]
        return [features.items[item, columns].tolist() for item in (opening, closing)]

    first, second = years("what was the balance in 2008?")
    assert [a == b for a, b in zip(first, second, strict=True)].count(False) == 1, "told apart by the opening alone"
    first, second = years("what was the balance at the beginning of 2009?")
    assert [a == b for a, b in zip(first, second, strict=True)].count(False) > 1
