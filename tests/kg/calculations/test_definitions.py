"""Items that a table does not name but defines."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from kg.calculations import ReportIndex, SeriesReader
from kg.calculations.conversions import conversions
from kg.calculations.forms import FormScorer
from kg.calculations.network import ChoiceNetwork
from kg.calculations.ranking import derivation_of
from kg.calculations.report_index import Idf
from kg.calculations.scorer import DerivationScorer, feature_widths
from kg.calculations.space import DerivationSpace, WeightedHistory
from kg.reports import build_ontology
from kg.reports.report import Report
from kg.search import Derivation
from tests.kg.calculations.pages import report_index, table_index

ROWS = (
    ("in thousands", "2017", "2018"),
    ("net sales", "$ 130", "$ 160"),
    ("cost of sales", "70", "80"),
    ("total current assets", "40", "50"),
)


def index_of(*rows: tuple[str, ...]) -> ReportIndex:
    return table_index(*rows, ontology=build_ontology([]))


def derived(index: ReportIndex) -> dict[tuple[str, str | None], str]:
    own = {one.id: one for one in index.observations}
    return {(own[name].label, own[name].period): str(steps) for name, steps in index.calculations.items()}


def test_an_item_is_calculated_for_every_column() -> None:
    assert derived(index_of(*ROWS)) == {
        ("gross profit", "2017"): "subtract(130, 70)",
        ("gross profit", "2018"): "subtract(160, 80)",
        ("gross margin", "2017"): "subtract(130, 70), divide(#0, 130)",
        ("gross margin", "2018"): "subtract(160, 80), divide(#0, 160)",
    }


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (("gross profit", "60", "80"), "the table names it"),
        (("sales", "5", "6"), "two rows may be meant by revenue"),
    ],
)
def test_no_gross_profit_where(row: tuple[str, ...], why: str) -> None:
    names = {label for label, _ in derived(index_of(*ROWS, row))}
    assert "gross profit" not in names, why


def test_an_item_has_the_unit_and_scale_of_its_inputs_and_a_ratio_has_none() -> None:
    index = index_of(*ROWS)
    found = {one.label: one.quantity for one in index.observations if one.id in index.calculations}
    assert (found["gross profit"].unit, found["gross profit"].scale) == ("currency", 1000)
    assert (found["gross margin"].unit, found["gross margin"].scale, found["gross margin"].value) == (
        "ratio",
        1,
        Decimal("0.5"),
    )


def test_a_derivation_is_spelled_out_over_figures_of_the_report() -> None:
    index = index_of(*ROWS)
    places = {one.period: place for place, one in enumerate(index.observations) if one.label == "gross profit"}
    items = [int((index.base == places[year]).argmax()) for year in ("2017", "2018")]
    named = SeriesReader(index).derivation("argmax", *items)
    assert named is not None
    spelled = index.spelled_out(named)
    assert str(spelled) == 'subtract(130, 70), subtract(160, 80), argmax("2017"=#0, "2018"=#1)'
    assert spelled.execute() == ("2018",)
    assert Derivation.parse(str(spelled)) == Derivation.parse(str(spelled)), "it can be written and read"
    assert Derivation.parse(str(spelled)).execute() == ("2018",)
    assert {number.source for number in spelled.numbers} <= {one.id for one in index.reported()}


def test_a_calculation_of_an_item_is_known_as_the_item() -> None:
    index = index_of(*ROWS)
    place = index.derived_place(Derivation.parse("subtract(160, 80)"))
    assert place is not None
    assert (index.observations[place].label, index.observations[place].period) == ("gross profit", "2018")
    assert index.derived_place(Derivation.parse("subtract(160, 70)")) is None


REPORT = Report(
    id="ACME/2009/page_3.pdf",
    pre_text=("net sales were $ 20.8 billion in 2009 .", "about 62 people work there ."),
    table=(("( in thousands )", "2009"), ("non-vested shares", "1060"), ("granted shares", "45")),
    post_text=(),
)
INDEX = report_index(REPORT)
START = [WeightedHistory((), 0.0)]


def _scorer(*forms: str) -> DerivationScorer:
    width, references, groups = feature_widths()
    return DerivationScorer(
        idf=Idf({}, 1.0),
        forms=FormScorer(forms, {"bias": 0}, np.zeros((1, len(forms)), dtype=np.float32)),
        operands={
            "A": ChoiceNetwork.linear(np.zeros(width, dtype=np.float32), groups, 20),
            "R": ChoiceNetwork.linear(np.zeros(references, dtype=np.float32), groups, 20),
        },
    )


def _converted(question: str, *forms: str, looked_up: tuple[str, ...] = ("20.8", "1060", "62")) -> list[str]:
    space = DerivationSpace(INDEX, [question], START, _scorer(*forms))
    states = np.array([[0, 0, INDEX.texts.index(text), -2] for text in looked_up])
    found, _ = conversions(space, states, np.zeros(len(states), dtype=np.float32))
    return [str(derivation_of(space, state)) for state in found]


def test_what_is_asked_in_millions_is_brought_to_millions() -> None:
    forms = ("select(A)", "multiply(A, C1000)", "divide(A, C1000)", "multiply(A, C1000000)")
    assert _converted("what were sales, in millions?", *forms) == [
        "multiply(20.8, const_1000)",
        "divide(1060, const_1000)",
    ]
