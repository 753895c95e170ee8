"""Words as the search compares them, lines by their words, and sentences."""

from __future__ import annotations

import pytest

from kg.text import WordIndex, search_words, split_sentences
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


LINES = ["net sales of 2019", "net income", "net income of Harbour Inc. in 2018", "goodwill"]


def _index() -> WordIndex:
    return WordIndex(map(search_words, LINES))


def test_lines_with_rare_words_come_first_and_others_not_at_all() -> None:
    assert _index().best(search_words("What were the net sales?")) == [0, 1, 2]
    assert _index().best(search_words("net sales"), most=1) == [0]
    assert _index().best(["harbour"]) == [2]
    assert _index().best(["unknown"]) == []


def test_a_year_in_a_date_is_a_word() -> None:
    assert _index().best(search_words("on 12/31/18?")) == [2]


def test_a_weight_counts() -> None:
    assert _index().best({"sale": 0.1, "goodwill": 1.0}) == [3, 0]


def test_an_index_without_lines_has_no_best() -> None:
    assert WordIndex([]).best(["a"]) == []
    assert WordIndex([[], []]).best(["a"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Led by Capt. Ahab, she left.",
        "Mr. and Mrs. Stroud sold it to J. P. Morgan.",
        "It is No. 7 of the U.S. Army.",
        "1. The bid was higher.",
        "Corvex Ltd. Holdings paid $3.5 million.",
        "It opens on Sept. 4.",
    ],
)
def test_a_point_may_end_no_sentence(text: str) -> None:
    assert split_sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It won in 2019. It lost.", 2),
        ("It grew. Élan plc fell. Ørsted rose.", 3),
        ("It burned. 36 people were hurt.", 2),
        ('"He left." She stayed. “Why?” Nobody knows.', 4),
        ("It grew (by 3%). It fell.", 2),
    ],
)
def test_a_sentence_begins_with_a_capital_a_figure_or_a_quote(text: str, count: int) -> None:
    found = split_sentences(text)
    assert len(found) == count
    assert " ".join(found) == text
