"""What the scorers see of figures and questions; not how it is laid out is tested, but what it tells apart."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np

from kg.calculations.idf import Idf
from kg.calculations.question_features import QuestionFeatures
from kg.calculations.report_index import ReportIndex
from tests.kg.calculations.pages import INDEX, REPORT, item


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
            INDEX.observations[0], quantity=replace(INDEX.observations[0].quantity, value=Decimal(value), text=text)
        )
        for value, text in (("1e400", "9" * 400), ("-1e400", "-" + "9" * 400), ("-7", "-7"))
    ]
    items = QuestionFeatures(ReportIndex(huge, REPORT.sentences, Idf({}, 1.0)), ["net income?"]).items
    assert np.isfinite(items).all()
    assert not np.array_equal(items[0], items[1]), "another sign"
