"""Full names in place of those that a person gave."""

from __future__ import annotations

import pytest

from kg.news import with_full_names

NAMES = [("Nova", "Keld Steel plc"), ("the Derby group", "Derwent plc"), ("Selwyn", "Selwyn Rail plc")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who runs the Derby group?", "Who runs Derwent plc?"),
        ("Derby Group's profit", "Derwent plc's profit"),
        ("Nova bought the Nova plant.", "Keld Steel plc bought the Keld Steel plc plant."),
        ("Nova Labs sold a nova.", "Nova Labs sold a nova."),
        ("Selwyn grows.", "Selwyn grows."),
    ],
)
def test_other_names_are_replaced_by_full_ones(text: str, expected: str) -> None:
    assert with_full_names(text, NAMES) == expected
