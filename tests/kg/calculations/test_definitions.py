"""Items that a table does not name but defines."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kg.calculations import ReportIndex, SeriesReader
from kg.reports import build_ontology
from kg.search import Derivation
from tests.kg.calculations.pages import table_index

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
