"""Figures in the style of continental Europe: when a table is read so, and that no character moves."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.text.number_formats import english_sentence, english_table, is_continental
from kg.text.quantities import find_quantities


@pytest.mark.parametrize("cell", ["1.234.567", "1.234,5", "1.234.567,89", "€ -4,5 %", "( 12,75 )", "9 876,5"])
def test_cells_that_can_only_be_continental(cell: str) -> None:
    assert is_continental([cell, "12.345", "7"])
    assert not is_continental([cell, "60.94"]), "a cell that can only be English decides"


def test_a_table_is_read_in_one_style() -> None:
    table = (("in tsd. €", "31.12.2019"), ("umsatz", "1 234 567"), ("kosten", "12.345"), ("marge", "-4,5 %"))
    assert english_table(table) == (
        ("in tsd. €", "31.12.2019"),
        ("umsatz", "1,234,567"),
        ("kosten", "12,345"),
        ("marge", "-4.5 %"),
    )
    english = (("", "2019"), ("sales", "12.345"), ("margin", "4.5 %"))
    assert english_table(english) is english


def test_spaces_are_between_groups_unless_a_cell_has_two_figures() -> None:
    table = (("", "2025"), ("revenue", "1 204"), ("costs", "(1 010)"), ("fleet", "− 12 500.5"), ("margin", "4.5 %"))
    assert [row[1] for row in english_table(table)] == ["2025", "1,204", "(1,010)", "− 12,500.5", "4.5 %"]
    joined = (*table, ("two columns", "214 1,980"))
    assert english_table(joined) is joined


def test_a_sentence_must_show_both_signs() -> None:
    assert english_sentence("der umsatz war 1.234,56 mio. in 2019 .") == "der umsatz war 1,234.56 mio. in 2019 ."
    for sentence in ("notes 4,5 and 6 .", "it was 12.345 .", "it was 1.234,56 or 1.5 ."):
        assert english_sentence(sentence) == sentence


@given(st.decimals(min_value=0, max_value=10**12, places=2), st.sampled_from(["{}", "€ {}", "( {} )", "{} %", "-{}"]))
def test_any_figure_is_read_as_its_english_form(figure: Decimal, form: str) -> None:
    english = form.format(f"{figure:,.2f}")
    continental = form.format(f"{figure:,.2f}".translate(str.maketrans(",.", ".,")))
    ((_, cell),) = english_table((("a", continental),))
    assert cell == english
    assert find_quantities(cell) == find_quantities(english)
