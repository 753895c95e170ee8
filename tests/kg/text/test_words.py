"""Words as the search compares them."""

from __future__ import annotations

import pytest

from kg.text.words import content_tokens, singular, stem, years


@pytest.mark.parametrize(
    ("word", "one"),
    [
        ("revenues", "revenue"),
        ("companies", "company"),
        ("losses", "loss"),
        ("taxes", "tax"),
        ("loss", "loss"),
        ("gas", "gas"),
        ("basis", "basis"),
        ("surplus", "surplus"),
        ("potatoes", "potato"),
        ("shoes", "shoe"),
        ("women", "woman"),
        ("2008", "2008"),
    ],
)
def test_plurals_lose_their_ending(word: str, one: str) -> None:
    assert singular(word) == one
    assert stem(word) == stem(one)


@pytest.mark.parametrize(
    ("words", "stemmed"),
    [
        ("allocate allocates allocated allocating allocation allocations", "allocat"),
        ("decrease decreases decreased decreasing", "decreas"),
        ("revenue revenues", "revenu"),
        ("expense expenses expensed", "expens"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(words: str, stemmed: str) -> None:
    assert {stem(word) for word in words.split()} == {stemmed}


def test_content_tokens_have_no_stop_words_and_no_years() -> None:
    assert content_tokens("What was the net income in 2008 and 12.5 ?") == ["net", "incom", "12.5"]
    assert content_tokens("what was it in 2008?") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from 2008 to fiscal 2009", (2008, 2009)),
        ("december 31 , 2012", (2012,)),
        ("12/31/04", (2004,)),
        ("12/31/98", (1998,)),
        ("2008 , 12/31/04 and fiscal 2009", (2008, 2004, 2009)),
        ("as of december 312013 and may 42012", (2013, 2012)),
        ("level 22013", ()),
        ("$2008", ()),
        ("2,008", ()),
        ("1949 and 2050", ()),
    ],
)
def test_years(text: str, found: tuple[int, ...]) -> None:
    assert years(text) == found
