"""Figures that are written in words."""

from __future__ import annotations

import pytest

from kg.text.quantities import find_number_words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("twenty-five stores", [("25", 1, "plain")]),
        ("two hundred and five employees", [("205", 1, "plain")]),
        ("two hundred thousand", [("200", 1000, "plain")]),
        ("three million shares of common stock", [("3", 10**6, "shares")]),
        ("seven percent of sales", [("7%", 1, "percent")]),
        ("one million dollars", [("1", 10**6, "currency")]),
        ("one of our five-year notes", []),
        ("someone often weighs a ton ; a hundred tenants", []),
        ("from four to six", [("4", 1, "plain"), ("6", 1, "plain")]),
    ],
)
def test_figures_in_words(text: str, found: list[tuple[str, int, str]]) -> None:
    assert [(one.text, one.scale, one.unit) for one in find_number_words(text)] == found
