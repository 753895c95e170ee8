from __future__ import annotations

import pytest

from kg.clauses import similarity


@pytest.mark.parametrize(
    ("one", "other"),
    [("buy", "acquisition"), ("resign", "quit"), ("found", "establish"), ("fine", "penalty"), ("flop", "fail")],
)
def test_words_of_one_meaning_are_similar(one: str, other: str) -> None:
    assert similarity(one, other) >= 0.7
    assert similarity(other, one) == similarity(one, other)


@pytest.mark.parametrize(("one", "other"), [("dividend", "lawsuit"), ("job", "euro"), ("quit", "dividend")])
def test_other_words_are_not(one: str, other: str) -> None:
    assert similarity(one, other) == 0.0


def test_opposites_are_negative_and_converses_are_not() -> None:
    assert similarity("rise", "fall") == -1.0
    assert similarity("buy", "sell") > 0
